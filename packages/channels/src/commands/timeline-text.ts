import {
  formatDuration,
  formatInlineCode,
  type Timeline,
  type TimelineEntry,
  toLiteralLine,
  type WhyAnswer,
} from '@parley/core';
import { formatMessageName } from '@parley/core/timeline';

/**
 * Where a timeline is shown: `terminal` is wide, with all details; `chat` is short, in Markdown;
 * `group` is `chat` without details reserved for the owner.
 */
export type TimelineSurface = 'terminal' | 'chat' | 'group';

/** The answer to a question about one message, as text (D08). */
export function describeWhyAnswer(answer: WhyAnswer, place: TimelineSurface): string {
  switch (answer.kind) {
    case 'unknown':
      return 'There is no such message. `last` is the newest one.'.replaceAll(
        '`',
        place === 'terminal' ? '"' : '`',
      );
    case 'several': {
      const names = answer.candidates.map((name) => {
        const code = place === 'terminal' ? '' : '`';
        return `- ${code}${formatMessageName(name)}${code}, ${formatDateTime(name.at)}`;
      });
      return ['Several messages have that id. Which one?\n', ...names].join('\n');
    }
    case 'found':
      return place === 'terminal'
        ? formatWideTimeline(answer.timeline)
        : formatShortTimeline(answer.timeline, place === 'chat');
  }
}

const STAGE_WIDTH = 9;
const TIME_WIDTH = 12;
const OFFSET_WIDTH = 9;

function formatWideTimeline({ message, turnId, verdict, detail, entries }: Timeline): string {
  const turn = turnId === null ? '' : `  ${turnId}`;
  return [
    `${formatMessageName(message)}  ${formatDateTime(message.at)}${turn}`,
    appendDetail(verdict, detail),
    '',
    ...entries.map((entry) => formatWideEntry(entry, message.at)),
  ].join('\n');
}

function formatWideEntry(entry: TimelineEntry, since: number): string {
  const { at, ms, stage, text, detail, mark } = entry;
  const time = at === null ? '' : new Date(at).toISOString().slice(11, 23);
  const took = ms === null ? '' : `  [${formatDuration(ms)}]`;
  const columns = [
    time.padEnd(TIME_WIDTH),
    (at === null ? '' : formatOffset(at - since)).padStart(OFFSET_WIDTH),
    `${mark === undefined ? ' ' : '!'} ${stage.padEnd(STAGE_WIDTH)}`,
    `${appendDetail(text, detail)}${took}`,
  ];
  return columns.join('  ');
}

function formatShortTimeline(
  { message, verdict, detail, entries }: Timeline,
  isOwner: boolean,
): string {
  const lines = entries.map(({ at, ms, stage, text, detail: more }) => {
    const when = at === null ? '' : `${formatOffset(at - message.at)} `;
    const took = ms === null ? '' : ` (${formatDuration(ms)})`;
    return `- ${when}*${stage}* ${appendDetail(toLiteralLine(text), isOwner ? quoteDetail(more) : undefined)}${took}`;
  });
  const text = appendDetail(toLiteralLine(verdict), isOwner ? quoteDetail(detail) : undefined);
  return [`Message \`${message.messageId}\`: ${text}\n`, ...lines].join('\n');
}

function appendDetail(text: string, detail: string | undefined): string {
  return detail === undefined ? text : `${text} (${detail})`;
}

/**
 * Formatted as code, so that text from a platform or a provider cannot be mistaken for the
 * timeline's own text.
 */
function quoteDetail(detail: string | undefined): string | undefined {
  return detail === undefined ? undefined : formatInlineCode(detail.trim());
}

/** Formats `+0.4 s`, or `−1.0 s` before the message was received. */
function formatOffset(ms: number): string {
  return ms < 0 ? `−${formatDuration(-ms)}` : `+${formatDuration(ms)}`;
}

/** Formats `2026-11-21 14:05:09Z`. */
function formatDateTime(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
