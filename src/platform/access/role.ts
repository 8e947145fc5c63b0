/** What a token may be for. An operator may do everything. */
export const ROLES = ['submitter', 'node', 'operator'] as const;
export type Role = (typeof ROLES)[number];
