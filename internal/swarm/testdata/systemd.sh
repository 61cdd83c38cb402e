# Boots a systemd of its own in namespaces: systemd.sh PROGRAM, which is in /run/bin there. It prints the process
# ID of systemd and "ready", and has all of it killed when its standard input ends. Nothing of the machine can be changed
# from inside: its files are read-only, what is written goes to small file systems in memory, and of what a machine does
# when it boots nothing is done. It needs root.
set -e
tree=$(findmnt -n -t cgroup2 -o TARGET | head -1)
[ -n "$tree" ] || { echo "there is no cgroup2 here" >&2; exit 1; }
group=$tree$(sed -n 's/^0:://p' /proc/self/cgroup)/satin-peer-$$
mkdir "$group"

enter='set -e
echo 0 > "$1/cgroup.procs"
exec unshare --cgroup --pid --fork --mount-proc --kill-child sh -c "$3" sh "$2"'

boot='set -e
mount --make-rprivate /
mount --bind /proc/sys /proc/sys
findmnt -n -r -o TARGET | while read -r at; do
	[ "$at" = /proc ] || mount -o remount,bind,ro "$at"
done
for at in / /usr /etc/passwd /proc/sys/kernel/hostname; do
	[ ! -w "$at" ] || { echo "not read-only: $at"; exit 1; }
done
mount -t tmpfs -o size=256m none /run
mkdir /run/bin /run/lock
cp "$1" /run/bin
for at in /tmp /var /root /etc/systemd; do mount -t tmpfs -o size=64m none "$at"; done
for at in /usr/lib/systemd/system/*.target.wants; do mount -t tmpfs -o size=1m none "$at"; done
mkdir -p /var/lib /var/tmp /etc/systemd/system
mount --bind /dev/null /etc/fstab
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
exec env -i PATH="$PATH" container=satin-peer /usr/lib/systemd/systemd --system --unit=basic.target \
	--log-target=null --default-standard-output=null'

unshare --mount --uts --ipc --net --fork --kill-child sh -c "$enter" sh "$group" "$1" "$boot" < /dev/null >&2 &
outer=$!
ending() {
	kill -9 "$outer" || true
	wait "$outer" || true
	for try in $(seq 100); do
		find "$group" -depth -type d -exec rmdir {} + && break
		sleep 0.1
	done
}
trap "ending 2>/dev/null" EXIT
for try in $(seq 200); do
	kill -0 "$outer" || exit 1
	pid=$(pgrep -P "$(pgrep -P "$outer")" -x systemd) && nsenter -t "$pid" -a systemctl is-active -q basic.target && break
	sleep 0.1
done
echo "$pid"
echo ready
cat
