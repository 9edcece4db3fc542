/**
 * The page's current view. The current view is part of the address, after `#`, so that the browser
 * can navigate back to it.
 */
export interface Route {
  /** The id of a view, such as `prompt`. */
  readonly view: string;
  /**
   * The arguments that follow the view in the address, such as an id or a filter. Each view defines
   * the meaning of its arguments.
   */
  readonly args: readonly string[];
  /**
   * The selected agent (F14), from `?agent=` at the end of the address or from the id of a chat. If
   * no agent is selected, lists show all agents, and other views show the default agent.
   */
  readonly agent?: string | undefined;
}

/** Parses the part of the address after `#`. An empty address is the chat. */
export function parseRoute(hash: string): Route {
  const [path = '', query] = hash.replace(/^#\/?/, '').split('?');
  const [view, ...args] = path.split('/').map(decodePart);
  const isChat = !view || view === 'chat';
  const agent = isChat ? findAgentName(args[0]) : new URLSearchParams(query).get('agent');
  return { view: view || 'chat', args, ...(agent && { agent }) };
}

/**
 * The address of a view with its arguments: `hrefOf('prompt', 'turn_1')` is `#/prompt/turn_1`. The
 * link keeps the agent selected on the page.
 */
export function toHref(view: string, ...args: readonly string[]): string {
  return toHash({ view, args, agent: getSelectedAgent() });
}

/** The address for a route. The id of a chat already names its agent. */
export function toHash({ view, args, agent }: Route): string {
  if (view === 'chat' && args.length === 0) return '#/';
  const path = `#/${[view, ...args].map(encodeURIComponent).join('/')}`;
  return view === 'chat' || !agent ? path : `${path}?agent=${encodeURIComponent(agent)}`;
}

/** The address of a chat on the page. */
export function toChatHref(chat: string): string {
  return toHash({ view: 'chat', args: chat === 'main' ? [] : [chat] });
}

/** The agent currently selected on the page. */
export function getSelectedAgent(): string | undefined {
  return parseRoute(globalThis.location?.hash ?? '').agent;
}

/**
 * The name of the agent to which a conversation or chat belongs; undefined for the default agent.
 */
export function findAgentName(id = ''): string | undefined {
  return /^@([^/]+)\//.exec(id)?.[1];
}

/** A decoded part of an address; invalid encodings are left unchanged. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
