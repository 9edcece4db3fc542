import { type DiscordNode, isPlainText, walkNodes } from './markdown.ts';

/** Problems in a message that Discord accepts anyway. */
export type ViolationKind =
  /** The message has no visible content; Discord refuses it. */
  | 'empty'
  /** The message has so much formatting that the client shows its source text. */
  | 'too-many-nodes'
  /** The message contains a mention, timestamp or emoji name that the client replaces. */
  | 'live'
  /** Discord's servers would notify someone, even if the client shows plain text. */
  | 'ping'
  /** The message contains a table, which the client shows as source text. */
  | 'table'
  /** The message contains `####`, which does not start a heading. */
  | 'deep-heading'
  /** The message contains `[text](url)` that does not become a link. */
  | 'refused-link'
  /** A list item contains empty lines, so marks in it stay visible. */
  | 'loose-list'
  /** The client joins two lines of a list item. */
  | 'joined-lines';

/** A problem and a description of its location. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly where: string;
}

/** The client counts all nodes except plain text and stops formatting at this number. */
const TOO_MANY_NODES = 200;
const PING = /<@[!&]?\d+>|@everyone|@here/g;
const TABLE = /^.*\|.*\n *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/m;
const DEEP_HEADING = /(?:^|\n) *#{4,6} /;

/**
 * Finds the problems in a message, given its source and its parsed tree; does not check the length.
 */
export function findViolations(source: string, tree: readonly DiscordNode[]): Violation[] {
  const nodes = [...walkNodes(tree)];
  const found: Violation[] = [];
  const report = (kind: ViolationKind, where: string) => found.push({ kind, where });
  if (!nodes.some(isVisible)) report('empty', '');
  const counted = nodes.filter(({ type }) => type !== 'text' && type !== 'refusedLink').length;
  if (counted >= TOO_MANY_NODES) report('too-many-nodes', `${counted}`);
  for (const node of nodes) {
    if (node.type === 'live') report('live', node.text);
    if (node.type === 'refusedLink') report('refused-link', node.text);
    if (node.type === 'list' && node.loose) report('loose-list', getShortText([node]));
    if (node.type === 'list' && node.joined) report('joined-lines', getShortText([node]));
  }
  for (const ping of findPings(source, nodes)) report('ping', ping);
  const plain = nodes.map((node) => (isPlainText(node) ? node.text : '\0')).join('');
  const table = TABLE.exec(plain)?.[0];
  if (table?.includes('|', table.indexOf('\n'))) report('table', table);
  const heading = DEEP_HEADING.exec(plain)?.[0];
  if (heading !== undefined) report('deep-heading', heading);
  return found;
}

/**
 * Finds text that the servers may treat as a mention; the servers recognize code and URLs, but not
 * escapes.
 */
function findPings(source: string, nodes: readonly DiscordNode[]): string[] {
  const code = nodes.flatMap((node) => {
    if (node.type === 'link') return [...node.url.matchAll(PING)];
    return isCode(node) ? [...node.text.matchAll(PING)] : [];
  });
  const all = [...source.matchAll(PING)].map(String);
  return all.length > code.length ? all : [];
}

function isCode(node: DiscordNode): node is Extract<DiscordNode, { type: 'code' | 'codeBlock' }> {
  return node.type === 'code' || node.type === 'codeBlock';
}

function isVisible(node: DiscordNode): boolean {
  return 'text' in node && /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(node.text);
}

function getShortText(tree: readonly DiscordNode[]): string {
  const texts = [...walkNodes(tree)].map((node) => ('text' in node ? node.text : ''));
  return texts.join('').slice(0, 40);
}
