/** On what terms a run gets nodes. */
export interface Terms {
  /** The first life of a lease, in seconds. */
  ttlSeconds: number;
  /** The most nodes a run may hold; 0: no cap. */
  maxLeases: number;
}
