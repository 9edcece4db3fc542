import { findEmoji } from './emoji.ts';

export interface TextStyle {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
}

/** A part of a line, in the form of Slack's `rich_text_section` elements. */
export type Inline =
  | { readonly type: 'text'; readonly text: string; readonly style?: TextStyle }
  | {
      readonly type: 'link';
      readonly url: string;
      readonly text?: string;
      readonly style?: TextStyle;
    }
  | { readonly type: 'user'; readonly user_id: string; readonly style?: TextStyle }
  | { readonly type: 'channel'; readonly channel_id: string; readonly style?: TextStyle }
  | { readonly type: 'usergroup'; readonly usergroup_id: string; readonly style?: TextStyle }
  | { readonly type: 'broadcast'; readonly range: string; readonly style?: TextStyle }
  | { readonly type: 'emoji'; readonly name: string; readonly style?: TextStyle };

export interface RichSection {
  readonly type: 'rich_text_section';
  readonly elements: readonly Inline[];
}

export type RichText =
  | RichSection
  | {
      readonly type: 'rich_text_list';
      readonly style: 'bullet' | 'ordered';
      readonly indent: number;
      /** The number of the first item minus one. */
      readonly offset?: number;
      readonly elements: readonly RichSection[];
    }
  | { readonly type: 'rich_text_quote'; readonly elements: readonly Inline[] }
  | { readonly type: 'rich_text_preformatted'; readonly elements: readonly Inline[] };

/** The names that clients show in place of ids. */
export interface DisplayNames {
  user(id: string): string;
  channel(id: string): string;
}

/** Returns the visible text of a line without formatting. */
function toPlainInline(elements: readonly Inline[], names: DisplayNames): string {
  return elements.map((element) => toPlainElement(element, names)).join('');
}

export function toPlainElement(element: Inline, names: DisplayNames): string {
  switch (element.type) {
    case 'text':
      return element.text;
    case 'link':
      return element.text ?? element.url;
    case 'user':
      return `@${names.user(element.user_id)}`;
    case 'channel':
      return `#${names.channel(element.channel_id)}`;
    case 'usergroup':
      return `@${element.usergroup_id}`;
    case 'broadcast':
      return `@${element.range}`;
    case 'emoji':
      return findEmoji(element.name) ?? `:${element.name}:`;
  }
}

/** Returns the visible text of rich text without formatting. */
export function toPlainText(parts: readonly RichText[], names: DisplayNames): string {
  return parts
    .map((part) => {
      if (part.type !== 'rich_text_list') return toPlainInline(part.elements, names);
      return part.elements
        .map(({ elements }, index) => {
          const marker = getListMarker(part.style, index + (part.offset ?? 0));
          return `${'    '.repeat(part.indent)}${marker} ${toPlainInline(elements, names)}`;
        })
        .join('\n');
    })
    .join('\n');
}

export function getListMarker(style: 'bullet' | 'ordered', index: number): string {
  return style === 'bullet' ? '•' : `${index + 1}.`;
}

const MARKS = { code: '`', strike: '~', italic: '_', bold: '*' } as const;

/** Converts rich text to mrkdwn, the format of the `text` field. */
export function toMrkdwn(parts: readonly RichText[]): string {
  return parts
    .map((part) => {
      switch (part.type) {
        case 'rich_text_section':
          return toMrkdwnInline(part.elements);
        case 'rich_text_quote':
          return toMrkdwnInline(part.elements).replaceAll(/^/gm, '&gt; ');
        case 'rich_text_preformatted':
          return `\`\`\`${toMrkdwnInline(part.elements)}\`\`\``;
        case 'rich_text_list':
          return part.elements
            .map(({ elements }, index) => {
              const marker = getListMarker(part.style, index + (part.offset ?? 0));
              return `${'    '.repeat(part.indent)}${marker} ${toMrkdwnInline(elements)}`;
            })
            .join('\n');
      }
      return '';
    })
    .join('\n');
}

function toMrkdwnInline(elements: readonly Inline[]): string {
  return elements
    .map((element) => {
      const text = toMrkdwnElement(element);
      const marks = Object.entries(MARKS).filter(
        ([name]) => element.style?.[name as keyof TextStyle] === true,
      );
      return marks.reduce((marked, [, mark]) => wrapInMark(marked, mark), text);
    })
    .join('');
}

/** Spaces at either end of the text stay outside the marks. */
function wrapInMark(text: string, mark: string): string {
  return text.replace(
    /^(\s*)([\s\S]*?)(\s*)$/,
    (_all, before: string, inner: string, after: string) =>
      inner === '' ? before + after : before + mark + inner + mark + after,
  );
}

function toMrkdwnElement(element: Inline): string {
  switch (element.type) {
    case 'text':
      return escapeMrkdwn(element.text);
    case 'link':
      return element.text === undefined
        ? `<${element.url}>`
        : `<${element.url}|${escapeMrkdwn(element.text)}>`;
    case 'user':
      return `<@${element.user_id}>`;
    case 'channel':
      return `<#${element.channel_id}>`;
    case 'usergroup':
      return `<!subteam^${element.usergroup_id}>`;
    case 'broadcast':
      return `<!${element.range}>`;
    case 'emoji':
      return `:${element.name}:`;
  }
}

/** Escapes the three characters that mrkdwn reserves. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
