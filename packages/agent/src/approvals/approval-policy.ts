import type { InboundMessage } from '@parley/contracts';
import type { PromptFeatures } from '@parley/prompt';
import { parsePromptCommand } from '../mcp/mcp-prompts.ts';
import { isForwarded } from '../memory/own-words.ts';
import { FIRST_MESSAGE } from '../sub-agents/delegate-task.ts';
import type { CallMoment, Proposal, Tool } from '../tools/tool.ts';
import { isPlaceholder, type ToolSet } from '../tools/tool-registry.ts';

/** What the settings say of approvals (G05). */
export interface ApprovalRules {
  /** Tools that need a yes although they do not ask for one themselves. */
  readonly ask: readonly string[];
  /** What needs none: names of tools, or `tool:pattern`. */
  readonly auto: readonly string[];
  /** Who may decide besides owners: `telegram:42`. */
  readonly approvers: readonly string[];
  /** How long an answer is waited for, in ms. */
  readonly waitMs: number;
}

/** `never`: nobody need be asked. `auto`: the settings have said yes, which is recorded. */
export type Need = 'never' | 'auto' | 'ask';

/** Whether calls of a tool need a yes at all. */
function asks(tool: Pick<Tool, 'name' | 'approval'>, { ask }: Pick<ApprovalRules, 'ask'>) {
  return tool.approval !== 'never' || ask.includes(tool.name);
}

/** Whether a tool asks about every call: no use where nobody can be asked. */
export function asksAlways(tool: Pick<Tool, 'approval' | 'spares'> | undefined): boolean {
  return tool?.approval === 'ask' && tool.spares === undefined;
}

/** Whether a tool asks about some of its calls alone, and the settings do not ask about all. */
export function isSometimes(
  { name, approval, spares }: Pick<Tool, 'name' | 'approval' | 'spares'>,
  { ask }: Pick<ApprovalRules, 'ask'>,
): boolean {
  return !ask.includes(name) && (approval === 'ask-after-foreign-words' || spares !== undefined);
}

/** Whether this call needs no yes, although others of its tool do. */
export function isSpared(
  tool: Pick<Tool, 'approval' | 'spares'>,
  input: unknown,
  moment: CallMoment,
): boolean {
  if (tool.approval === 'ask-after-foreign-words' && !moment.foreignWords) return true;
  return tool.spares?.(input, moment) === true;
}

/**
 * What one call needs. `subject` is what it is about: the first of the tool's arguments in the order of
 * its schema, which the model cannot change; null when that is no text. `isSpared`: its tool says that
 * this one needs no approval. `proposal`: what it would change, which may have to be asked always.
 */
export function needOf(
  tool: Pick<Tool, 'name' | 'approval'>,
  subject: string | null,
  rules: Pick<ApprovalRules, 'ask' | 'auto'>,
  isSpared = false,
  proposal: Pick<Proposal, 'always'> | null = null,
): Need {
  if (proposal?.always === true) {
    return rules.auto.some((entry) => isNamed(entry, tool.name, subject)) ? 'auto' : 'ask';
  }
  if (!asks(tool, rules)) return 'never';
  if (isSpared && !rules.ask.includes(tool.name)) return 'never';
  return rules.auto.some((entry) => isAllowed(entry, tool.name, subject)) ? 'auto' : 'ask';
}

/** What a call is about; see `needOf`. `properties` are those of the tool's JSON Schema. */
export function subjectOf(
  properties: unknown,
  input: Readonly<Record<string, unknown>>,
): string | null {
  if (typeof properties !== 'object' || properties === null) return null;
  const [first] = Object.keys(properties);
  const value = first === undefined ? undefined : input[first];
  return typeof value === 'string' ? value : null;
}

/** What joins commands or starts others in a shell, and line breaks: no `*` stands for it. */
const RUN_OF_HARMLESS = '[^\\n\\r;|&<>$`(){}]*';

/**
 * Whether an entry of the allow list covers a call: `write` all calls of a tool, `write:notes/*` those
 * whose subject matches as a whole. A `*` stands for any characters but those of a shell that lead on
 * to another command, and for no step up to another folder: `git status; rm -r .` is no `git status*`.
 */
export function isAllowed(entry: string, tool: string, subject: string | null): boolean {
  const colon = entry.indexOf(':');
  if (colon === -1) return entry === tool;
  if (entry.slice(0, colon) !== tool || subject === null) return false;
  const pattern = entry.slice(colon + 1);
  if (!pattern.includes('*')) return pattern === subject;
  if (/(^|[\\/])\.\.([\\/]|$)/.test(subject)) return false;
  const expression = pattern.split('*').map(literal).join(RUN_OF_HARMLESS);
  return new RegExp(`^${expression}$`, 'u').test(subject);
}

/** Whether an entry names exactly this subject, without any `*`. */
function isNamed(entry: string, tool: string, subject: string | null): boolean {
  return subject !== null && !entry.includes('*') && entry === `${tool}:${subject}`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** What the model is told of the calls that need a yes; nothing where there are none. */
export function approvalsNote(
  tools: ToolSet,
  rules: Pick<ApprovalRules, 'ask' | 'waitMs'> | undefined,
): Pick<PromptFeatures, 'approvals'> {
  if (rules === undefined) return {};
  const asking = tools.names.flatMap((name) => {
    const tool = tools.get(name);
    return tool !== undefined && asks(tool, rules) && !isPlaceholder(tools, name) ? [tool] : [];
  });
  if (asking.length === 0) return {};
  const some = asking.filter((tool) => isSometimes(tool, rules));
  const each = asking.filter((tool) => !some.includes(tool));
  const later = some.filter(({ approval }) => approval === 'ask-after-foreign-words');
  const text = [
    sentence('A person is asked before each call of: ', each, ({ name }) => `\`${name}\``),
    sentence(
      'A person is asked before: ',
      some.filter((tool) => !later.includes(tool)),
      aboutOf,
    ),
    sentence(
      'Once you have read words of outsiders in a turn (pages, search results, files and forwarded messages that somebody sends, tools of others, sub-agents), a person is asked before: ',
      later,
      aboutOf,
      '; ',
    ),
    'Call them as you need them; you are told what was decided. After a no, do not try to reach the same in another way.',
  ]
    .filter((part) => part !== '')
    .join(' ');
  return { approvals: { text, source: 'approvals', audience: { kind: 'everyone' } } };
}

function aboutOf({ name, asksAbout }: Tool): string {
  return asksAbout ?? `some calls of \`${name}\``;
}

function sentence(
  begin: string,
  tools: readonly Tool[],
  wordsOf: (tool: Tool) => string,
  between = ', ',
): string {
  return tools.length === 0 ? '' : `${begin}${tools.map(wordsOf).join(between)}.`;
}

/** What a turn has been told so far, for the question whose words these are. */
export interface ToldInTurn {
  readonly messages: readonly InboundMessage[];
  /** What tools said; `foreign`: outsiders may have written it. */
  readonly results: readonly { readonly foreign: boolean }[];
  /** Whoever gave a sub-agent its task had been told such words. */
  readonly inherited?: boolean;
}

/** A voice message is spoken into the microphone here; all else may come from anywhere. */
const OF_THE_SENDER: ReadonlySet<string> = new Set(['voice', 'sticker']);

/**
 * Whether a turn holds words of outsiders: of pages, servers and files, of whoever is forwarded or
 * quoted, of sub-agents, which may have read such. It is decided from messages and journal alone, so a
 * turn that is begun again after a crash comes to the same (G16).
 */
export function hasForeignWords({ messages, results, inherited = false }: ToldInTurn): boolean {
  return inherited || results.some(({ foreign }) => foreign) || messages.some(bringsForeignWords);
}

function bringsForeignWords(message: InboundMessage): boolean {
  const { occasion, text, attachments = [], replyTo, chat, sender } = message;
  // What a sub-agent has come to; its own task is told apart from that by its fixed words.
  if (occasion !== undefined) return occasion === 'sub-agent' && text !== FIRST_MESSAGE;
  const isQuoting = replyTo?.text !== undefined && replyTo.senderId !== sender.id;
  return (
    isForwarded(text) ||
    isForwarded(replyTo?.text ?? '') ||
    // In a direct chat there is nobody to quote but the two who talk there.
    (isQuoting && chat.type !== 'direct') ||
    attachments.some(({ kind }) => !OF_THE_SENDER.has(kind)) ||
    parsePromptCommand(text) !== null
  );
}
