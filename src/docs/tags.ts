/** The groups of operations, in reading order. */
export const TAGS = {
  runs: 'Submit a contract, follow its run, end it, and keep the record of it.',
  queue: 'Who waits, and for what.',
  nodes: 'What nodes offer, and who holds them.',
  steps: 'How a node gets its work and says what became of it.',
  asks: 'What runs ask people, and the answers.',
  operation: 'Probes, figures, and what explains itself.',
};
