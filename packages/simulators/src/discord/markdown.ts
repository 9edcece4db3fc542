/** One node of a message as Discord's client reads it. */
export type DiscordNode =
  /** `escaped`: written with a backslash. */
  | { readonly type: 'text'; readonly text: string; readonly escaped?: true }
  /** A Unicode emoji; the client draws it as a picture and counts it as a node. */
  | { readonly type: 'emoji'; readonly text: string }
  | { readonly type: MarkType; readonly children: readonly DiscordNode[] }
  /** `paragraph`: only in a list item with empty lines. */
  | {
      readonly type: 'quote' | 'subtext' | 'paragraph';
      readonly children: readonly DiscordNode[];
    }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly DiscordNode[] }
  | {
      readonly type: 'list';
      /** Number of the first item, or undefined for bullets. The client numbers on from there. */
      readonly start: number | undefined;
      readonly items: readonly (readonly DiscordNode[])[];
      /** An item was cut into paragraphs by an empty line; marks outside them stay visible. */
      readonly loose: boolean;
      /** The client drops a line end in an item where text before it meets marks or signs. */
      readonly joined: boolean;
    }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'codeBlock'; readonly language: string; readonly text: string }
  | {
      readonly type: 'link';
      readonly url: string;
      /** Bare in the text, in angle brackets, or behind a text. */
      readonly form: 'bare' | 'angle' | 'masked';
      readonly children: readonly DiscordNode[];
    }
  /** Something with the form of a masked link that the client shows as it is written. */
  | { readonly type: 'refusedLink'; readonly text: string }
  | { readonly type: 'live'; readonly kind: LiveKind; readonly text: string };

/** Formats on a stretch of text. */
export type MarkType = 'bold' | 'italic' | 'underline' | 'strike' | 'spoiler';

/** Text that Discord's client makes clickable, fills in, or pings with. */
export type LiveKind =
  | 'user'
  | 'role'
  | 'channel'
  | 'everyone'
  | 'here'
  | 'command'
  | 'time'
  | 'emoji'
  | 'shortcode'
  | 'route'
  | 'sound'
  | 'silent';

/** Tries to read something that begins exactly at `at`. */
export type Rule = (source: string, at: number, state: ReadState, read: Read) => Taken | undefined;

/** The match of a rule in the source, up to `end`, and its meaning. */
export interface Taken {
  readonly end: number;
  readonly nodes: readonly DiscordNode[];
}

/** Reads a whole text with the rules that hold in this state. */
export type Read = (source: string, state: ReadState) => DiscordNode[];

/** The state of reading a message. */
export interface ReadState {
  /** The match of the last rule; empty at the very start. Nested content begins with its parent's. */
  readonly before: string;
  /** False only in a list item with empty lines: then marks work in paragraphs alone. */
  readonly inline: boolean;
  readonly inQuote: boolean;
  readonly listLevel: number;
  readonly headings: boolean;
  readonly subtexts: boolean;
  /** False in the text of a masked link. */
  readonly escapes: boolean;
  /** In the text of a masked link that was accepted only marks, code and times are read. */
  readonly onlyMarks: boolean;
}

/** Every node of a tree, parents first. */
export function* allNodes(tree: readonly DiscordNode[]): Generator<DiscordNode> {
  for (const node of tree) {
    yield node;
    if ('children' in node) yield* allNodes(node.children);
    if (node.type === 'list') for (const item of node.items) yield* allNodes(item);
  }
}

export function isPlainText(node: DiscordNode): node is Extract<DiscordNode, { type: 'text' }> {
  return node.type === 'text' && node.escaped === undefined;
}

/** Whether nothing or a line end stands before, as headings want it. */
export function startsLine({ before }: ReadState): boolean {
  return before === '' || before.endsWith('\n');
}

/** Whether nothing, or a line end and spaces, stands before, as quotes and lists want it. */
export function startsIndentedLine({ before }: ReadState): boolean {
  return before === '' || /\n *$/.test(before);
}

/** The end of a run of one character. */
export function endOfRun(source: string, at: number, character: string): number {
  let end = at;
  while (source[end] === character) end += 1;
  return end;
}

/** White space as JavaScript's regular expressions, and so Discord's rules, understand it. */
export function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

/** An ASCII letter, digit or underscore. */
export function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
