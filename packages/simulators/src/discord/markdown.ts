export type DiscordNode =
  /** `escaped` is set when the text was written with a backslash. */
  | { readonly type: 'text'; readonly text: string; readonly escaped?: true }
  /** A Unicode emoji; the client draws it as a picture and treats it as a node. */
  | { readonly type: 'emoji'; readonly text: string }
  | { readonly type: MarkType; readonly children: readonly DiscordNode[] }
  /** `paragraph` occurs only in a list item with empty lines. */
  | {
      readonly type: 'quote' | 'subtext' | 'paragraph';
      readonly children: readonly DiscordNode[];
    }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly DiscordNode[] }
  | {
      readonly type: 'list';
      /**
       * The number of the first item, from which the client continues to count; undefined for
       * bullets.
       */
      readonly start: number | undefined;
      readonly items: readonly (readonly DiscordNode[])[];
      /**
       * Whether an empty line splits an item into paragraphs; marks outside the paragraphs stay
       * visible.
       */
      readonly loose: boolean;
      /**
       * Whether the client drops a line end in an item, between text and a mark or special
       * character.
       */
      readonly joined: boolean;
    }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'codeBlock'; readonly language: string; readonly text: string }
  | {
      readonly type: 'link';
      readonly url: string;
      /** A bare URL, a URL in angle brackets, or the URL of a masked link. */
      readonly form: 'bare' | 'angle' | 'masked';
      readonly children: readonly DiscordNode[];
    }
  /** Text that resembles a masked link but that the client shows as written. */
  | { readonly type: 'refusedLink'; readonly text: string }
  | { readonly type: 'live'; readonly kind: LiveTextKind; readonly text: string };

export type MarkType = 'bold' | 'italic' | 'underline' | 'strike' | 'spoiler';

/** Text that the client makes clickable, replaces, or turns into a ping. */
export type LiveTextKind =
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

/** Tries to match a rule exactly at `at`. */
export type MarkdownRule = (
  source: string,
  at: number,
  state: ReadState,
  read: ParseText,
) => RuleMatch | undefined;

/** The result of a rule: the nodes, and the position where they end. */
export interface RuleMatch {
  readonly end: number;
  readonly nodes: readonly DiscordNode[];
}

/** Parses the entire text with the rules that apply in this state. */
export type ParseText = (source: string, state: ReadState) => DiscordNode[];

export interface ReadState {
  /**
   * The text that the last rule matched, or an empty string at the beginning; nested content starts
   * with its parent's match.
   */
  readonly before: string;
  /** False only in a list item with empty lines, where marks work only inside paragraphs. */
  readonly inline: boolean;
  readonly inQuote: boolean;
  readonly listLevel: number;
  readonly headings: boolean;
  readonly subtexts: boolean;
  /** False inside the text of a masked link, where these rules do not apply. */
  readonly escapes: boolean;
  /**
   * Whether only marks, code and timestamps are parsed, as in the text of an accepted masked link.
   */
  readonly onlyMarks: boolean;
}

/** Yields all nodes of a tree, parents before children. */
export function* walkNodes(tree: readonly DiscordNode[]): Generator<DiscordNode> {
  for (const node of tree) {
    yield node;
    if ('children' in node) yield* walkNodes(node.children);
    if (node.type === 'list') for (const item of node.items) yield* walkNodes(item);
  }
}

export function isPlainText(node: DiscordNode): node is Extract<DiscordNode, { type: 'text' }> {
  return node.type === 'text' && node.escaped === undefined;
}

/** Whether this position is the start of a line, as headings require. */
export function startsLine({ before }: ReadState): boolean {
  return before === '' || before.endsWith('\n');
}

/** Whether only spaces precede this position on its line, as quotes and lists require. */
export function startsIndentedLine({ before }: ReadState): boolean {
  return before === '' || /\n *$/.test(before);
}

/** Returns the position after a run of the same character. */
export function findRunEnd(source: string, at: number, character: string): number {
  let end = at;
  while (source[end] === character) end += 1;
  return end;
}

/** White space as defined by JavaScript's regular expressions, which Discord's rules use. */
export function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

export function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
