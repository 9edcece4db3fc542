import { allNodes, type DiscordNode, isPlainText } from './markdown.ts';

/** The faults of a message that Discord nevertheless accepts. */
export type ViolationKind =
  /** Nothing to see: Discord refuses it. */
  | 'empty'
  /** Too many formats: the client then shows the whole message as it is written. */
  | 'too-many-nodes'
  /** A mention, a time, an emoji name: the client fills something in. */
  | 'live'
  /** Discord's servers would ping, even where the client shows only text. */
  | 'ping'
  /** A table as it is written. */
  | 'table'
  /** `####`, which is no heading. */
  | 'deep-heading'
  /** `[text](url)` that stays as it is. */
  | 'refused-link'
  /** A list item with empty lines, in which marks stay visible. */
  | 'loose-list'
  /** Two lines of a list item that the client shows as one. */
  | 'joined-lines';

/** One thing that is wrong, with the place in words. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly where: string;
}

/** The client counts everything but plain text and gives up at this many. */
const TOO_MANY_NODES = 200;
const PING = /<@[!&]?\d+>|@everyone|@here/g;
const TABLE = /^.*\|.*\n *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/m;
const DEEP_HEADING = /(?:^|\n) *#{4,6} /;

/** Finds the faults of a message, given as it is sent and as it is read. Length is not looked at. */
export function findViolations(source: string, tree: readonly DiscordNode[]): Violation[] {
  const nodes = [...allNodes(tree)];
  const found: Violation[] = [];
  const report = (kind: ViolationKind, where: string) => found.push({ kind, where });
  if (!nodes.some(isSeen)) report('empty', '');
  const counted = nodes.filter(({ type }) => type !== 'text' && type !== 'refusedLink').length;
  if (counted >= TOO_MANY_NODES) report('too-many-nodes', `${counted}`);
  for (const node of nodes) {
    if (node.type === 'live') report('live', node.text);
    if (node.type === 'refusedLink') report('refused-link', node.text);
    if (node.type === 'list' && node.loose) report('loose-list', shortText([node]));
    if (node.type === 'list' && node.joined) report('joined-lines', shortText([node]));
  }
  for (const ping of pings(source, nodes)) report('ping', ping);
  const plain = nodes.map((node) => (isPlainText(node) ? node.text : '\0')).join('');
  const table = TABLE.exec(plain)?.[0];
  if (table?.includes('|', table.indexOf('\n'))) report('table', table);
  const heading = DEEP_HEADING.exec(plain)?.[0];
  if (heading !== undefined) report('deep-heading', heading);
  return found;
}

/** Finds text that the servers may take for a mention: they know no escapes, only code and addresses. */
function pings(source: string, nodes: readonly DiscordNode[]): string[] {
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

function isSeen(node: DiscordNode): boolean {
  return 'text' in node && /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(node.text);
}

function shortText(tree: readonly DiscordNode[]): string {
  const texts = [...allNodes(tree)].map((node) => ('text' in node ? node.text : ''));
  return texts.join('').slice(0, 40);
}
