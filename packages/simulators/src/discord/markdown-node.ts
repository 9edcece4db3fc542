/** What Discord's client makes something clickable, fills in, or pings with. */
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

/** Formats on a stretch of text. */
export type MarkType = 'bold' | 'italic' | 'underline' | 'strike' | 'spoiler';

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
