export default [
  {
    name: 'a-record-is-sealed-once',
    why: 'a digest that was told is never replaced by another',
    file: 'src/records/records.sql.ts',
    take: ' AND digest IS NULL AND closed_at IS NOT NULL',
    put: ' AND closed_at IS NOT NULL',
    spec: 'test/db/refusals.spec.ts',
  },
  {
    name: 'a-record-is-closed-once',
    why: 'the time at which a record was closed is never replaced by another',
    file: 'src/records/records.sql.ts',
    take: "otherwise: 'record_closed',",
    put: "rows: 'any',",
    spec: 'test/db/refusals.spec.ts',
  },
  {
    name: 'only-what-is-shown-is-replaced',
    why: 'an upload under way is not taken away by another of its name',
    file: 'src/bodies/uploads.sql.ts',
    take: 'AND published_at IS NOT NULL RETURNING size)',
    put: 'RETURNING size)',
    spec: 'test/http/execution/blobs.spec.ts',
    test: 'of two at once|eight at once',
  },
];
