/** An example of each parameter, by its name. What one operation answers is what another is asked with. */
export const PARAMETERS: Record<string, unknown> = {
  run_id: 'change-4711-ps3',
  node_id: 'rpi-7',
  seq: 2,
  code: 'not_sealed',
  state: 'QUEUED',
  work_id: 'gerrit:4711',
  principal: 'ci',
  limit: 50,
  cursor: 'MjAyNi0wMy0wMiAwOToxNTowNC4xMjAzNDErMDB8NDI',
  all: true,
  wait: 30,
  'Mediator-Principal': 'ci',
  'Mediator-Instance': 'boot-2026-03-02T07:58',
  'Mediator-Lease': '0c2f8f0e-6a0b-4a53-9c53-6f3b9f6d7a11',
  'Idempotency-Key': 'change-4711-ps3',
  'X-Request-Id': 'ci-build-88123',
};
