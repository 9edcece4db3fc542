import { formatInlineCode, quoteLines, toDisplayLine, toLiteralMarkdown } from '@parley/core';
import type { PersonQuestion } from '../../tools/tool.ts';
import { type FieldOption, type FieldValue, type FormField, toShortLine } from './field.ts';
import { findProposedValue } from './read-answer.ts';

/** The server and tool that ask, and the server's message. */
export interface ElicitationSource {
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
  readonly message: string;
}

/** The limits for a server's message, in characters and lines. */
const MAX_MESSAGE = 1_000;
const MAX_LINES = 12;

const DECLINES = { label: 'Decline', does: 'declines', style: 'danger' } as const;

/** Introduces a question: the server, its tool and its message. The server's text is quoted. */
function formatOpening({ server, tool, message }: ElicitationSource): string {
  const lines = message
    .split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)
    .map((line) => toDisplayLine(line).trim())
    .filter((line) => line !== '')
    .slice(0, MAX_LINES);
  const quoted = formatQuotation(truncateText(lines.join('\n'), MAX_MESSAGE));
  const who = `The server ${formatInlineCode(server)}, whose tool ${formatInlineCode(toShortLine(tool, 80))} I am using, has a question for you. The quoted text is the server’s, not mine, and your answer goes to the server. Never enter a password, a key or a card number here: a server must not ask for them.`;
  return lines.length === 0 ? who : `${who}\n\n${quoted}`;
}

function formatQuotation(text: string): string {
  return quoteLines(text.split('\n').map(toLiteralMarkdown).join('\n'));
}

function truncateText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** The position of a field in its form, and what was wrong with the previous answer. */
export interface FieldContext {
  readonly asker: ElicitationSource;
  readonly nth: number;
  readonly count: number;
  readonly problem: string | null;
}

/** Formats a field as a question. The word `decline` ends the whole form. */
export function formatFieldQuestion(
  field: FormField,
  { asker, nth, count, problem }: FieldContext,
): Pick<PersonQuestion, 'question' | 'choices' | 'skip'> {
  const isFirst = nth === 0 && problem === null;
  const place = count === 1 ? '' : ` (${nth + 1} of ${count})`;
  const from = isFirst ? '' : ` – for the server ${formatInlineCode(asker.server)}`;
  const { description } = field;
  const parts = [
    ...(isFirst ? [formatOpening(asker)] : []),
    ...(problem === null ? [] : [`That is not a valid answer: ${problem}.`]),
    `**${toLiteralMarkdown(field.title)}**${place}${from}`,
    ...(description === '' ? [] : [formatQuotation(description)]),
    getFieldHint(field),
  ];
  const skip = getSkipChoice(field);
  const ends = skip === DECLINES ? '' : 'Reply `decline` to send the server nothing at all.';
  const question = [...parts, ends].filter((text) => text !== '').join('\n\n');
  return { question, choices: listFieldChoices(field), skip };
}

function listFieldChoices(field: FormField): readonly string[] {
  if (field.kind === 'yes-no') return ['Yes', 'No'];
  return field.kind === 'one' ? field.options.map(({ label }) => label) : [];
}

/** A hint about the expected form of the answer, for fields whose label does not make it clear. */
function getFieldHint(field: FormField): string {
  switch (field.kind) {
    case 'text':
      return field.format === undefined ? '' : FORMAT_HINTS[field.format];
    case 'number':
      return createNumberHint(field.isWhole, field.least, field.most);
    case 'several': {
      const list = field.options
        .map(({ label }, at) => `${at + 1}. ${toLiteralMarkdown(label)}`)
        .join('\n');
      return `${list}\n\nReply with the numbers of your choices, such as \`1, 3\`, or with \`none\`.`;
    }
    case 'yes-no':
    case 'one':
      return '';
  }
}

const FORMAT_HINTS = {
  email: 'An e-mail address.',
  uri: 'An address like `https://example.org`.',
  date: 'A date like `2026-11-27`.',
  'date-time': 'A date and time like `2026-11-27T09:00:00+01:00`.',
} as const;

function createNumberHint(isWhole: boolean, least: number, most: number): string {
  const kind = isWhole ? 'A whole number' : 'A number';
  const from = Number.isFinite(least) ? ` from ${least}` : '';
  const to = most < Number.MAX_VALUE ? ` up to ${most}` : '';
  return `${kind}${from}${to}.`;
}

function getSkipChoice(field: FormField): NonNullable<PersonQuestion['skip']> {
  const proposed = findProposedValue(field);
  if (proposed !== undefined)
    return {
      label: 'Skip',
      does: `accepts the server’s proposal: ${renderFieldValue(field, proposed)}`,
    };
  return field.isRequired ? DECLINES : { label: 'Skip', does: 'leaves this field empty' };
}

/** Formats a value for a person, in Markdown. */
function renderFieldValue(field: FormField, value: FieldValue): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const options: readonly FieldOption[] = 'options' in field ? field.options : [];
  const label = (one: string) => options.find((option) => option.value === one)?.label ?? one;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return formatInlineCode(toShortLine(label(value), 200));
  return value.length === 0 ? 'none' : value.map((one) => formatInlineCode(label(one))).join(', ');
}

/** Shows a completed form with several fields before it is sent. */
export function createReviewQuestion(
  { server }: ElicitationSource,
  fields: readonly FormField[],
  content: Readonly<Record<string, FieldValue>>,
): Pick<PersonQuestion, 'question' | 'choices' | 'skip'> {
  const lines = fields.map((field) => {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    return `- ${toLiteralMarkdown(field.title)}: ${value === undefined ? 'left out' : renderFieldValue(field, value)}`;
  });
  const question = `May I send this to the server ${formatInlineCode(server)}?\n\n${lines.join('\n')}`;
  return { question, choices: ['Send'], skip: DECLINES };
}

/** A form without fields only asks for consent. */
export function createConsentQuestion(
  asker: ElicitationSource,
): Pick<PersonQuestion, 'question' | 'choices' | 'skip'> {
  return { question: formatOpening(asker), choices: ['Accept'], skip: DECLINES };
}

/** Formats a web address for a person. Parley never opens the address. */
export function createUrlQuestion(
  asker: ElicitationSource,
  url: URL,
): Pick<PersonQuestion, 'question' | 'choices' | 'skip'> {
  const warnings = [
    ...(url.protocol === 'http:' ? ['What you enter there is not encrypted.'] : []),
    ...(/(?:^|\.)xn--/.test(url.hostname)
      ? ['Its host name contains letters that can look like others: be careful.']
      : []),
  ];
  const question = [
    formatOpening(asker),
    `It wants you to open an address in your browser. Its host is ${formatInlineCode(url.host)}:`,
    formatInlineCode(url.href),
    [
      'Open it only if you know that host and expect this. I do not open it, and I cannot see what you do there.',
      ...warnings,
      'When you are done, tell me here.',
    ].join(' '),
  ].join('\n\n');
  return { question, choices: ['Done'], skip: DECLINES };
}
