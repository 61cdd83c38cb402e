// The part of uPlot (uPlot.js, 1.6.32, as its package has it) that the page uses.
declare class uPlot {
  constructor(options: object, data: (number | null)[][], target: HTMLElement);
  setData(data: (number | null)[][]): void;
  setSize(size: { width: number; height: number }): void;
  destroy(): void;
  over: HTMLElement;
}
