package engine

const SchedIdle = schedIdle
