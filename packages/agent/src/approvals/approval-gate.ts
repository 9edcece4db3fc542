import { type Button, formatCallBlock, formatInlineCode, type ReplyRoute } from '@parley/core';
import { parseToolArguments } from '@parley/models';
import type { Approval, InboxRow, Lease, NewApproval, NewPart, Store } from '@parley/store';
import { markSystemMessage } from '../answer/visible-text.ts';
import type { JournaledCall } from '../loop/turn-journal.ts';
import { renderParts } from '../post-message.ts';
import {
  type CallMoment,
  type PersonAnswer,
  type PersonQuestion,
  type Proposal,
  type Tool,
  TurnSuspendedError,
} from '../tools/tool.ts';
import { isPlaceholderTool, type ToolSet } from '../tools/tool-set.ts';
import { type Turn, toSenderId } from '../turn/turn.ts';
import {
  type ApprovalRules,
  findApprovalSubject,
  isExempt,
  mayNeedApproval,
  resolveApprovalRequirement,
} from './approval-policy.ts';
import { askPerson } from './ask-person.ts';
import { createAllowEntry } from './auto-rules.ts';
import { formatArguments, MAX_SHOWN } from './shown-arguments.ts';
import {
  type CallToApprove,
  createApproval,
  formatMinutes,
  type GateServices,
  storeQuestion,
} from './stored-question.ts';

/**
 * `run`: run the call exactly as approved. `refused`: do not run the call; the text tells the model
 * why.
 */
type GateVerdict =
  | { readonly kind: 'run'; readonly approved: boolean }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'fenced' };

export type ApprovalGate = ReturnType<typeof openGate>;

export function openGate(deps: GateServices, turn: Turn, lease: Lease) {
  const { approvals } = deps.store;
  return {
    /**
     * Decides whether a call may run. If a person must be asked first, the question and the
     * suspension of the turn are stored in one transaction and TurnSuspendedError is thrown. The
     * run after the decision calls this function again and gets the decision.
     */
    async check(
      tool: Tool,
      { key, call }: JournaledCall,
      tools: ToolSet,
      moment: CallMoment,
      proposal: Proposal | null,
    ): Promise<GateVerdict> {
      if (isPlaceholderTool(tools, tool.name)) return RUN;
      const decided = await approvals.of(turn.turnId, key);
      const input = parseToolArguments(call);
      const shown = formatArguments(proposal?.shown ?? input);
      if (decided !== null) return toVerdict(decided, tool, shown);
      // Calls with invalid arguments never run, so they need no approval.
      if (input === null || !tool.input.safeParse(input).success) return RUN;
      const schema = tools.definitions.find(({ name }) => name === tool.name)?.inputSchema;
      const subject = findApprovalSubject(schema?.properties, input);
      const isFree = isExempt(tool, input, moment);
      const need = resolveApprovalRequirement(tool, subject, deps.rules, isFree, proposal);
      if (need === 'never') return RUN;
      const asked = {
        tool: tool.name,
        callKey: key,
        shown,
        rule: createAllowEntry(tool.name, subject),
      };
      if (need === 'auto') return decideAllowed(deps, turn, lease, asked);
      const { name, asksAbout = `this call of \`${name}\`` } = tool;
      // A stranger must not be able to summon an owner, or make a group wait, because of an address
      // that a person can simply name.
      if (
        moment.reader.kind !== 'owner' &&
        moment.untrustedText &&
        mayNeedApproval(tool, deps.rules)
      )
        return { kind: 'refused', text: describeOtherChat(name, asksAbout) };
      if (asked.shown.length > MAX_SHOWN)
        return { kind: 'refused', text: describeOversizedCall(name, asked.shown) };
      const place = await findQuestionRoute(deps, turn);
      if (place === null) return { kind: 'refused', text: describeMissingApprover(name) };
      return askForApproval(deps, turn, lease, { ...asked, place });
    },
    /** Asks the person whom the turn answers, on behalf of a tool call (`ask_user`). */
    askPerson: (callKey: string, question: PersonQuestion): Promise<PersonAnswer> =>
      askPerson(deps, turn, lease, callKey, question),
  };
}

const RUN: GateVerdict = { kind: 'run', approved: false };

/**
 * `shown` is the question as rendered from the current file. `shown` differs from the approved
 * question if the file has changed since.
 */
function toVerdict(approval: Approval, { proposes }: Tool, shown: string): GateVerdict {
  switch (approval.state) {
    case 'approved':
    case 'auto':
      return proposes === undefined || approval.shown === shown
        ? { kind: 'run', approved: true }
        : { kind: 'refused', text: describeChangedWrite(approval.tool) };
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return { kind: 'refused', text: describeRefusal(approval, approval.state) };
    // An answer to an `ask_user` question is not an approval.
    case 'answered':
      return RUN;
    case 'pending':
      throw new TurnSuspendedError(approval.tool);
  }
}

async function decideAllowed(
  deps: GateServices,
  turn: Turn,
  lease: Lease,
  asked: CallToApprove,
): Promise<GateVerdict> {
  const approval = createApproval(deps, turn, asked);
  const result = await deps.store.approvals.allow(lease, approval, deps.clock());
  return result === 'fenced' ? { kind: 'fenced' } : { kind: 'run', approved: true };
}

async function askForApproval(
  deps: GateServices,
  turn: Turn,
  lease: Lease,
  { place, ...asked }: CallToApprove & { readonly place: QuestionChat },
): Promise<GateVerdict> {
  const stored = await storeQuestion(deps, turn, lease, async () => {
    const approval = createApproval(deps, turn, asked, place.conversationId);
    const parts = await createQuestion(approval, place, deps.rules.waitMs);
    return parts === null ? null : { approval, parts };
  });
  if (stored === 'fenced') return { kind: 'fenced' };
  return { kind: 'refused', text: describeOversizedCall(asked.tool, asked.shown) };
}

export interface QuestionChat {
  readonly route: ReplyRoute;
  /** The conversation in which the question can be decided. */
  readonly conversationId: string;
  readonly toDecider: boolean;
  /**
   * The person who caused the call, and the route for notifying them; absent if this is the person
   * asked.
   */
  readonly onBehalf?: { readonly who: string; readonly route: ReplyRoute };
}

interface ApproverDeps {
  readonly rules: Pick<ApprovalRules, 'approvers'>;
  readonly owners: readonly string[];
}

/**
 * Chooses the chat in which to ask: the turn's own chat, unless it is a direct chat with a person
 * who may not decide. In that case an owner is asked in their most recently used chat. Null if no
 * owner has a chat.
 */
async function findQuestionRoute(
  deps: ApproverDeps & { readonly store: Pick<Store, 'inbox'> },
  turn: Turn,
): Promise<QuestionChat | null> {
  const { lead, route, conversationId: askedIn } = turn;
  const here = { route, conversationId: askedIn };
  if (lead.message.chat.type !== 'direct') return { ...here, toDecider: false };
  if (canDecide(lead, deps)) return { ...here, toDecider: true };
  const chats = await deps.store.inbox.ownerChats();
  const owners = chats.find((row) => deps.owners.includes(toSenderId(row)));
  if (owners === undefined) return null;
  const who = formatInlineCode(toSenderId(lead));
  const { conversationId } = owners;
  return { route: owners.route, conversationId, toDecider: true, onBehalf: { who, route } };
}

function canDecide(row: InboxRow, { owners, rules }: ApproverDeps): boolean {
  const person = toSenderId(row);
  // Ingress sets this flag for accounts that an owner linked (F13).
  return row.fromOwner === true || owners.includes(person) || rules.approvers.includes(person);
}

async function createQuestion(
  { tool, shown, code }: Pick<NewApproval, 'tool' | 'shown' | 'code'>,
  { route, toDecider, onBehalf }: QuestionChat,
  waitMs: number,
): Promise<readonly NewPart[] | null> {
  const text = formatQuestion({ tool, shown, code, waitMs, toDecider, who: onBehalf?.who });
  const question = await renderQuestionParts(text, route, code);
  if (question === null || onBehalf === undefined) return question;
  return [...question, ...(await renderParts(describeWait(waitMs), onBehalf.route))];
}

/**
 * The maximum number of message parts per question; people do not read more messages than this
 * before pressing a button.
 */
const MAX_PARTS = 30;

/**
 * Renders a question into message parts for the outbox, with buttons below the last one. Pressing a
 * button is equivalent to typing its command. The parts are numbered, so that people notice a
 * missing one.
 */
async function renderQuestionParts(
  markdown: string,
  route: ReplyRoute,
  code: string,
): Promise<readonly NewPart[] | null> {
  const parts = await renderParts(markdown, route, { ...route.target, numbered: true });
  if (parts.length > MAX_PARTS) return null;
  const buttons: Button[] = [
    { label: 'Approve', data: `/approve ${code}`, style: 'success' },
    { label: 'Deny', data: `/deny ${code}`, style: 'danger' },
  ];
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part));
}

/** A question about a tool call. `who` is set only if the person asked did not cause the call. */
export interface CallQuestion {
  readonly tool: string;
  readonly shown: string;
  readonly code: string;
  readonly waitMs: number;
  readonly toDecider: boolean;
  readonly who?: string | undefined;
}

/**
 * Formats the question as Markdown. The text names the commands behind its buttons, because not
 * every platform has buttons.
 */
export function formatQuestion({
  tool,
  shown,
  code,
  waitMs,
  toDecider,
  who,
}: CallQuestion): string {
  const asker = who === undefined ? 'May I' : `For ${who}: may I`;
  const block = formatCallBlock(shown);
  const only = toDecider ? '' : ' Only my owner, or an approver my owner has named, can decide.';
  return [
    markSystemMessage(`${asker} use \`${tool}\` with this?`),
    block,
    ...(block.includes('\\u{') ? [WRITTEN_OUT] : []),
    ...(block.includes('\n+') ? [GOES_ON] : []),
    `Reply \`/approve ${code}\` or \`/deny ${code}\`.${only} After ${formatMinutes(waitMs)} without a reply, I’ll treat it as denied. Other messages here wait until then; \`/stop\` cancels everything.`,
  ].join('\n\n');
}

const WRITTEN_OUT = '`\\u{…}` is a character that is invisible or looks like another one.';

const GOES_ON = 'A line that begins with `+` continues the line above it.';

function describeWait(waitMs: number): string {
  return markSystemMessage(
    `I need my owner’s approval for this and have asked for it. Without a reply within ${formatMinutes(waitMs)}, I’ll continue without it.`,
  );
}

function describeRefusal(
  { tool, askedAt, expiresAt }: Pick<Approval, 'tool' | 'askedAt' | 'expiresAt'>,
  state: 'denied' | 'expired' | 'withdrawn',
): string {
  const why =
    state === 'expired'
      ? `it was not approved within ${formatMinutes(expiresAt - askedAt)}, which counts as a refusal`
      : 'the person who was asked said no';
  return `${tool} was not run: ${why}. Do not try to do the same thing in another way; continue without it, and say so.`;
}

function describeOversizedCall(tool: string, shown: string): string {
  const length = `${shown.length.toLocaleString('en')} characters`;
  return `${tool} was not run: a person has to read the whole call first, and it is too long to show (${length}; the maximum is ${MAX_SHOWN.toLocaleString('en')}). Make it smaller, or do it in several calls.`;
}

function describeChangedWrite(tool: string): string {
  return `${tool} was not run: what it would write is no longer what was approved, because the file has changed in the meantime. Read it again, and ask again with the new text.`;
}

/**
 * Tells the model that no approver can be asked. `about` names the calls that need an approval; if
 * it is absent, all calls of the tool need one.
 */
export function describeMissingApprover(tool: string, about?: string): string {
  const which = about === undefined ? '' : ` An approval is needed for ${about}.`;
  return `${tool} was not run: it needs an approval, and no approver can be asked from here.${which} Say so.`;
}

function describeOtherChat(tool: string, about: string): string {
  return `${tool} was not run: words of outsiders have been read, and not allowed then is: ${about}. No approver can be asked here. Do not try to reach the same in another way. Say so, and that somebody can ask for exactly that in a message of their own, with the address if it is about one.`;
}
