/** Whether a step of a contract promises an output; each is an SQL expression. */
export const promises = (contract: string, seq: string, name: string): string =>
  `EXISTS (SELECT FROM json_array_elements_text(${contract}->'steps'->(${seq} - 1)->'out') AS own (name) WHERE own.name = ${name})`;

/** Whether any step of a contract does. */
export const someStepPromises = (contract: string, name: string): string =>
  `EXISTS (SELECT FROM json_array_elements(${contract}->'steps') AS step, json_array_elements_text(step->'out') AS any_one (name)
            WHERE any_one.name = ${name})`;

/**
 * Whether an upload `b` is what its name stands for: its step promises the name, or no step does. Others are not taken;
 * one from before that was so can be there, and only of those the contract is read.
 */
export const RIGHTFUL = `
  (b.promised IS NOT NULL
   OR (SELECT ${promises('r.contract', 'b.seq', 'b.name')} OR NOT ${someStepPromises('r.contract', 'b.name')}
         FROM runs r WHERE r.run_id = b.run_id))`;
