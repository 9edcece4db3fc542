/** What the page shows; it is in the address, after `#`, so that the browser can go back to it. */
export interface Route {
  /** The id of a view, `prompt`. */
  readonly view: string;
  /** What follows it in the address: an id, a filter. The view says what each means. */
  readonly args: readonly string[];
}

/** Reads the part of the address behind `#`. Without a view in it, it is the chat. */
export function routeOf(hash: string): Route {
  const [view, ...args] = hash.replace(/^#\/?/, '').split('/').map(decoded);
  return { view: view || 'chat', args };
}

/** The address of a view and what follows it: `hrefOf('prompt', 'turn_1')` is `#/prompt/turn_1`. */
export function hrefOf(view: string, ...args: readonly string[]): string {
  return view === 'chat' && args.length === 0
    ? '#/'
    : `#/${[view, ...args].map(encodeURIComponent).join('/')}`;
}

/** A decoded part of an address; invalid encodings stay as they are. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
