/** As a part of a statement that has a part `run (run_id)`: opens the record of the run that it creates, whatever the outcome. */
export const OPEN_RECORD = '/* records.open */ INSERT INTO records (run_id) SELECT run_id FROM run';
