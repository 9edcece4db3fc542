import { findViolations, type Violation } from './find-violations.ts';
import { type FormatRun, formatRuns } from './format-runs.ts';
import type { DiscordNode } from './markdown-node.ts';
import type { Read, ReadState, Rule } from './markdown-rule.ts';
import {
  readBlankLines,
  readCodeBlock,
  readHeading,
  readParagraph,
  readQuote,
  readSubtext,
} from './read-blocks.ts';
import { readAngleLink, readBareLink, readMaskedLink } from './read-links.ts';
import { readList } from './read-list.ts';
import { readCustomEmoji, readLive } from './read-live.ts';
import { readCode, readMark, readSpoiler } from './read-marks.ts';
import { readBreak, readEscape, readShrug, readText } from './read-text.ts';
import { allNodes, joinTexts } from './walk-nodes.ts';

export type { Violation, ViolationKind } from './find-violations.ts';
export type { FormatRun, RunFormat } from './format-runs.ts';
export type { DiscordNode } from './markdown-node.ts';

/** A Discord message as people see it. */
export interface DiscordMessage {
  readonly tree: readonly DiscordNode[];
  /** What people see: without marks, with `• ` and numbers before list items. */
  readonly visible: string;
  /** The same text in stretches of equal format, without bullets and numbers. */
  readonly runs: readonly FormatRun[];
  /** Mentions, times, emoji names: what the client fills in. */
  readonly live: readonly Extract<DiscordNode, { type: 'live' }>[];
  /** Why the message would not look right or would do more than show text. Empty: it is fine. */
  readonly violations: readonly Violation[];
}

const START: ReadState = {
  before: '',
  inline: true,
  inQuote: false,
  listLevel: 0,
  headings: true,
  subtexts: true,
  escapes: true,
  onlyMarks: false,
};

/** In the order of the client's rules; the first that takes something wins. */
const RULES: readonly Rule[] = [
  readHeading,
  readSubtext,
  readCodeBlock,
  readCustomEmoji,
  readQuote,
  readList,
  readBlankLines,
  readParagraph,
  readEscape,
  readAngleLink,
  readBareLink,
  readMaskedLink,
  readMark,
  readCode,
  readBreak,
  readShrug,
  readLive,
  readSpoiler,
  readText,
];

/** What is read in the text of a masked link. */
const LINK_RULES: readonly Rule[] = [
  readMark,
  readCode,
  readBreak,
  readLive,
  readSpoiler,
  readText,
];

/**
 * Reads a message as Discord's client shows it to people, and says what is wrong with it.
 *
 * Sources, read in November 2026: the rules in Discord's own web and phone clients as several public
 * archives keep them (MarkupRules, MarkupListRule, MarkupLinkRule, MarkupHeadingRule,
 * MarkupSubtextRule, MarkupTextRule, MarkupASTUtils), which build on Khan Academy's simple-markdown;
 * Discord's help article "Markdown Text 101"; issues 6096, 6565 and 7721 of discord/discord-api-docs
 * on masked links. Marks are matched by their nearest closing, whatever stands between, code included.
 * Left out: spelling tricks with look-alike letters in link texts, previews, and which emoji names
 * the client knows.
 */
export function parseDiscordMarkdown(text: string): DiscordMessage {
  const source = text.replaceAll(/\r\n?/g, '\n').replaceAll('\f', '').replaceAll('\t', '    ');
  const tree = joinTexts(read(source, START));
  const runs = formatRuns(tree);
  return {
    tree,
    visible: runs.map((run) => run.marker + run.text).join(''),
    runs,
    live: [...allNodes(tree)].filter((node) => node.type === 'live'),
    violations: findViolations(text, tree),
  };
}

const read: Read = (source, state) => {
  const rules = state.onlyMarks ? LINK_RULES : RULES;
  const nodes: DiscordNode[] = [];
  let { before } = state;
  let at = 0;
  while (at < source.length) {
    const here = { ...state, before };
    let end = at;
    for (const rule of rules) {
      const taken = rule(source, at, here, read);
      if (taken === undefined) continue;
      nodes.push(...taken.nodes);
      end = taken.end;
      break;
    }
    before = source.slice(at, end);
    at = end;
  }
  return nodes;
};
