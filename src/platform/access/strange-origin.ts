import { isIPv4 } from 'node:net';

/** What a browser says about the origin of a request. */
export interface Origins {
  method: string;
  host: string | undefined;
  origin: string | undefined;
  /** Sec-Fetch-Site and Sec-Fetch-Mode. */
  site: string | undefined;
  mode: string | undefined;
}

/**
 * Why a request may come from a page of somebody else; undefined where it does not. Without tokens whoever reaches the
 * port is operator, and every page that a browser on this machine shows reaches loopback. Programs send none of these
 * headers but Host. A link that leads here is followed (its page cannot read the answer); all else of other sites, other
 * ports of this machine among them, is not taken. A name that is not this machine's is one that somebody else has pointed
 * here (DNS rebinding): the browser then takes their page for ours.
 */
export function strangeOrigin({ method, host, origin, site, mode }: Origins, listensOn: string): string | undefined {
  if (host !== undefined && !isOwnName(nameOf(host), listensOn)) {
    return 'the Host header does not name this machine';
  }
  const follows = mode === 'navigate' && (method === 'GET' || method === 'HEAD');
  if ((site === 'cross-site' || site === 'same-site') && !follows) return 'a page of another site sent the request';
  // Browsers that know no Sec-Fetch-Site name the page where it could do harm.
  if (origin !== undefined && site === undefined && !isOf(origin, host))
    return 'a page of another origin sent the request';
  return undefined;
}

/** The host without its port, in small letters; an IPv6 address without its brackets. */
function nameOf(host: string): string {
  const [, six, name] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (six ?? name ?? '').toLowerCase();
}

function isOwnName(name: string, listensOn: string): boolean {
  if (name === 'localhost' || name === '::1' || name === listensOn.toLowerCase()) return true;
  return isIPv4(name) && name.startsWith('127.');
}

function isOf(origin: string, host: string | undefined): boolean {
  return /^https?:\/\//.test(origin) && origin.slice(origin.indexOf('//') + 2) === host;
}
