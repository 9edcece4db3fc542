import {
  inlineCode,
  literalLine,
  shortDuration,
  type Timeline,
  type TimelineEntry,
  type WhyAnswer,
} from '@parley/core';
import { nameOfMessage } from '@parley/core/timeline';

/**
 * Where a timeline is shown: `terminal` is wide, with all details; `chat` is short, in Markdown;
 * `group` is the same without what only the owner may know.
 */
export type TimelineSurface = 'terminal' | 'chat' | 'group';

/** The answer to a question about one message, as text (D08). */
export function whyAnswerText(answer: WhyAnswer, place: TimelineSurface): string {
  switch (answer.kind) {
    case 'unknown':
      return 'I know of no such message. `last` is the newest one.'.replaceAll(
        '`',
        place === 'terminal' ? '"' : '`',
      );
    case 'several': {
      const names = answer.candidates.map((name) => {
        const code = place === 'terminal' ? '' : '`';
        return `- ${code}${nameOfMessage(name)}${code}, ${dateTime(name.at)}`;
      });
      return ['Several messages have that id. Which one?\n', ...names].join('\n');
    }
    case 'found':
      return place === 'terminal'
        ? wideText(answer.timeline)
        : shortText(answer.timeline, place === 'chat');
  }
}

const STAGE_WIDTH = 9;
const TIME_WIDTH = 12;
const OFFSET_WIDTH = 9;

function wideText({ message, turnId, verdict, detail, entries }: Timeline): string {
  const turn = turnId === null ? '' : `  ${turnId}`;
  return [
    `${nameOfMessage(message)}  ${dateTime(message.at)}${turn}`,
    withDetail(verdict, detail),
    '',
    ...entries.map((entry) => wideLine(entry, message.at)),
  ].join('\n');
}

function wideLine(entry: TimelineEntry, since: number): string {
  const { at, ms, stage, text, detail, mark } = entry;
  const time = at === null ? '' : new Date(at).toISOString().slice(11, 23);
  const took = ms === null ? '' : `  [${shortDuration(ms)}]`;
  const columns = [
    time.padEnd(TIME_WIDTH),
    (at === null ? '' : offset(at - since)).padStart(OFFSET_WIDTH),
    `${mark === undefined ? ' ' : '!'} ${stage.padEnd(STAGE_WIDTH)}`,
    `${withDetail(text, detail)}${took}`,
  ];
  return columns.join('  ');
}

function shortText({ message, verdict, detail, entries }: Timeline, isOwner: boolean): string {
  const lines = entries.map(({ at, ms, stage, text, detail: more }) => {
    const when = at === null ? '' : `${offset(at - message.at)} `;
    const took = ms === null ? '' : ` (${shortDuration(ms)})`;
    return `- ${when}*${stage}* ${withDetail(literalLine(text), isOwner ? quoteDetail(more) : undefined)}${took}`;
  });
  const text = withDetail(literalLine(verdict), isOwner ? quoteDetail(detail) : undefined);
  return [`Message \`${message.messageId}\`: ${text}\n`, ...lines].join('\n');
}

function withDetail(text: string, detail: string | undefined): string {
  return detail === undefined ? text : `${text} (${detail})`;
}

/**
 * Formatted as code, so that text from a platform or a provider cannot be mistaken for the
 * timeline's own text.
 */
function quoteDetail(detail: string | undefined): string | undefined {
  return detail === undefined ? undefined : inlineCode(detail.trim());
}

/** Formats `+0.4 s`, or `−1.0 s` before the message was received. */
function offset(ms: number): string {
  return ms < 0 ? `−${shortDuration(-ms)}` : `+${shortDuration(ms)}`;
}

/** Formats `2026-11-21 14:05:09Z`. */
function dateTime(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
