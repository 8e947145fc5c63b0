/** The periods of the server that judges. One whose row does not tell its own, since it is older, is judged by these. */
export interface OwnPeriods {
  silenceSeconds: number;
  lifeSeconds: number;
}

/** As a part of a statement over `servers v`, with our own as $1: for how long it may go unseen until that counts as an outage. */
export const SILENCE = 'coalesce(v.renew_seconds * (v.factor - 1), $1::float8)';

/** With our own as $2: how long its adverts live, and for how long it may go unseen until it is lost. */
export const LIFE = 'coalesce(v.renew_seconds * v.factor, $2::float8)';
