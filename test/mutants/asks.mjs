export default [
  {
    name: 'lock-where-a-notice-is-put-back',
    why: 'a question that is being answered has no notice afterwards',
    file: 'src/asks/take-notices.ts',
    take: '    await tx.ask(lockRun(notice.run_id));\n',
    put: '',
    spec: 'test/race/waits.spec.ts',
    test: 'notice',
  },
  {
    name: 'wake-answer',
    why: 'an answer that ends a run promotes who waits for its nodes',
    file: 'src/asks/asks.controller.ts',
    take: "whys: ['answer'],",
    put: 'whys: [],',
    spec: 'test/http/asks/answer.spec.ts',
  },
];
