import type { OutputOf } from '@parley/gateway/operations';
import type { PromptSummary } from '@parley/store';
import type { VNode } from 'preact';
import { useRowAgents } from '../agents.tsx';
import { toHref } from '../route.ts';
import { formatAmount, formatDay, formatTimeOfDay } from '../ui/format.ts';
import { EntryLink } from '../ui/frames.tsx';
import { type OlderPage, useGrowingList } from '../ui/growing.ts';
import { List, OlderButton } from '../ui/widgets.tsx';

/** The recorded turns, and those of the selected agent. */
export function useTurns() {
  const data = useGrowingList('prompts/list', {}, undefined, readPrompts, ({ turnId }) => turnId);
  const { isShown } = useRowAgents();
  const turns = (data.value ?? []).filter(({ conversationId }) => isShown(conversationId));
  return { data, turns };
}

function readPrompts({ prompts: items, next }: OutputOf<'prompts/list'>) {
  return { items, next };
}

interface TurnListProps {
  /** The view that shows the chosen turn. */
  readonly view: 'prompt' | 'replay';
  readonly older: OlderPage | null;
  readonly turns: readonly PromptSummary[];
  readonly chosen: string | undefined;
}

/** The recorded turns, newest first, grouped by day. */
export function TurnList({ view, turns, chosen, older }: TurnListProps): VNode {
  if (turns.length === 0) {
    return (
      <p class="nothing">
        Nothing has been recorded yet. Write to the agent, and that turn appears here.
      </p>
    );
  }
  return (
    <div>
      {groupByDay(turns).map(({ day, entries }) => (
        <section key={day} aria-label={day}>
          <h3 class="hint">{day}</h3>
          <List of={entries}>
            {(turn) => (
              <TurnLink
                key={turn.turnId}
                view={view}
                turn={turn}
                isChosen={turn.turnId === chosen}
              />
            )}
          </List>
        </section>
      ))}
      <OlderButton label="Older turns" older={older} />
    </div>
  );
}

interface TurnLinkProps extends Pick<TurnListProps, 'view'> {
  readonly turn: PromptSummary;
  readonly isChosen: boolean;
}

function TurnLink({ view, turn, isChosen }: TurnLinkProps): VNode {
  const { turnId, at, layout, tokens, place } = turn;
  const agent = useRowAgents().titleOf(turn.conversationId);
  return (
    <EntryLink
      href={toHref(view, turnId)}
      title={getChatName(turn)}
      at={at}
      time={formatTimeOfDay(at)}
      facts={`${place.channel} · ${layout}`}
      isChosen={isChosen}
    >
      {formatAmount(tokens)} tokens{agent !== null && ` · ${agent}`}
    </EntryLink>
  );
}

/** The group's title, or otherwise the sender. */
export function getChatName({ place: { title, personName, chatType } }: PromptSummary): string {
  const name = title ?? personName;
  return chatType === 'direct' ? name : `${name} · ${chatType}`;
}

function groupByDay(turns: readonly PromptSummary[]) {
  const days: { day: string; entries: PromptSummary[] }[] = [];
  for (const turn of turns) {
    const day = formatDay(turn.at, Date.now());
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(turn);
    else days.push({ day, entries: [turn] });
  }
  return days;
}
