import type { LiveBus } from '@parley/core';
import type { ClaimedTurn } from '@parley/store';
import { asksAlways } from './approvals/approval-policy.ts';
import { unseenMedia } from './media/turn-media.ts';
import { type ToolRegistry, withoutTools } from './tools/tool-registry.ts';
import type { SeenTurn } from './turn-answer.ts';
import type { OpenedTurn } from './turn-opening.ts';
import type { PromptServices } from './turn-prompt.ts';
import { answerOrFailure, whyHopeless } from './turn-runner.ts';
import type { TurnServices } from './turn-services.ts';

export type UnseenAnswer = Awaited<ReturnType<typeof answerOrFailure>>;

/** What a turn without people differs in. */
interface Unseen extends Partial<TurnServices> {
  readonly opened: OpenedTurn;
  /** Names of tools that it has no use for. */
  readonly withheld: ReadonlySet<string>;
}

/** Answers a turn of a lane without people, with a small prompt and without live events. */
export async function answerUnseen(
  deps: TurnServices,
  { turn, journal }: Pick<SeenTurn, 'turn' | 'journal'>,
  prepare: () => Promise<Unseen>,
  signal: AbortSignal,
): Promise<UnseenAnswer> {
  const hopeless = whyHopeless(deps, turn);
  if (hopeless !== null) return hopeless;
  const { opened, withheld, ...own } = await prepare();
  const services = { ...unseenServices(deps, withheld), bus: muted(deps.bus), ...own };
  return answerOrFailure(services, { turn, media: unseenMedia(), opened, journal }, signal);
}

/**
 * A small prompt: no hooks, and no tools that always need an approval, since no approver can be asked.
 * `withheld`: names of tools that the turn has no use for.
 */
export function unseenServices<Services extends PromptServices>(
  deps: Services,
  withheld: ReadonlySet<string>,
) {
  const { tools } = deps;
  return {
    ...deps,
    hooks: [],
    promptMode: 'minimal' as const,
    ...(tools !== undefined && { tools: toolsWithout(tools, withheld) }),
  };
}

function toolsWithout(tools: ToolRegistry, withheld: ReadonlySet<string>): ToolRegistry {
  return {
    for(reader, lacking) {
      const all = tools.for(reader, lacking);
      return withoutTools(all, (name) => withheld.has(name) || asksAlways(all.get(name)));
    },
  };
}

/** Publishes nothing: the answer is not shown while it is written. */
function muted(bus: LiveBus): LiveBus {
  return { publish() {}, subscribe: (listener) => bus.subscribe(listener) };
}

/**
 * A turn of a lane without people, as if it were one of the chat that it works for: facts, format and
 * privacy come from there. Its lane stays its own.
 */
export function inItsChat(turn: ClaimedTurn): ClaimedTurn {
  const messages = turn.messages.map((row) => {
    const { message, route } = row;
    return { ...row, message: { ...message, chat: { ...message.chat, id: route.chatId } } };
  });
  return { ...turn, messages };
}
