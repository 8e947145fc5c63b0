/** The groups of operations, in reading order. */
export const TAGS = {
  nodes: 'What nodes offer, and who holds them.',
  runs: 'Submit a contract, follow its run, end it, and keep the record of it.',
  steps: 'How a node gets its work and says what became of it, from the claim to the result.',
  asks: 'What runs ask people, and the answers.',
  queue: 'Who waits, and for what.',
  operation: 'Probes, figures, and what explains itself.',
};
