/**
 * An example of each parameter that must be given or narrows an answer, by its name. What one operation answers is what
 * another is asked with. Of a header that may be left out there is none: a page to try the API out would send it along.
 */
export const PARAMETERS: Record<string, unknown> = {
  run_id: 'change-4711-ps3',
  node_id: 'rpi-7',
  seq: 1,
  code: 'not_sealed',
  state: 'QUEUED',
  work_id: 'gerrit:4711',
  principal: 'ci',
  limit: 50,
  cursor: 'MjAyNi0wMy0wMiAwOToxNTowNC4xMjAzNDErMDB8NDI',
  all: true,
  wait: 30,
  name: 'image',
  attempt: 1,
  offset: 4096,
};
