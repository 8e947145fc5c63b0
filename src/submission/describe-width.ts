export function describeWidth(nodes: number, cap: number): string {
  return `the run would take ${nodes} nodes, and a run may lease at most ${cap}`;
}
