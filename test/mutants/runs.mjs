export default [
  {
    name: 'wake-cancel',
    why: 'a cancel promotes who waits for its nodes',
    file: 'src/runs/runs.controller.ts',
    take: "whys: ['cancel'],",
    put: 'whys: [],',
    spec: 'test/http/queue/whys.spec.ts',
    test: 'cancel: once',
  },
  {
    name: 'a-run-that-is-over',
    why: 'a cancel that comes after the end changes nothing',
    file: 'src/runs/cancel-run.ts',
    take: "      if (isOver(run.state)) return 'over';\n",
    put: '      if (isOver(undefined as never)) return "over";\n',
    spec: 'test/http/queue/whys.spec.ts',
    test: 'cancel: once',
  },
];
