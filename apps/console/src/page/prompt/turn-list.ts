import { h, type VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { amount } from '../ui/amount.ts';
import { dayOf, timeOf } from '../ui/moment.ts';
import type { TurnEntry } from './read-prompt.ts';

interface TurnListProps {
  readonly turns: readonly TurnEntry[];
  /** The turn that is shown beside the list. */
  readonly chosen: string | null;
  /** Null: these are all. */
  readonly onMore: (() => void) | null;
}

/** The recorded turns, newest first, under the day they ran. */
export function TurnList({ turns, chosen, onMore }: TurnListProps): VNode {
  return h(
    'div',
    { class: 'turn-list' },
    daysOf(turns).map(({ day, entries }) =>
      h(
        'section',
        { key: day, 'aria-label': day },
        h('h3', null, day),
        h(
          'ul',
          null,
          entries.map((turn) =>
            h('li', { key: turn.turnId }, h(TurnLink, { turn, isChosen: turn.turnId === chosen })),
          ),
        ),
      ),
    ),
    onMore && h('button', { type: 'button', class: 'quiet', onClick: onMore }, 'Older turns'),
  );
}

function TurnLink({ turn, isChosen }: { turn: TurnEntry; isChosen: boolean }): VNode {
  const { turnId, at, layout, tokens } = turn;
  const href = hrefOf({ view: 'prompt', turn: turnId, against: null });
  return h(
    'a',
    { href, class: 'turn-link', 'aria-current': isChosen ? 'true' : undefined },
    h('span', { class: 'turn-where' }, whereOf(turn)),
    h('time', { dateTime: new Date(at).toISOString() }, timeOf(at)),
    h('span', { class: 'turn-facts' }, `${turn.channel} · ${layout}`),
    h('span', { class: 'turn-tokens' }, `${amount(tokens)} tokens`),
  );
}

/** What people call the place: the title of a group, else who wrote. */
export function whereOf({ title, personName, chatType }: TurnEntry): string {
  const place = title ?? personName;
  return chatType === 'direct' ? place : `${place} · ${chatType}`;
}

function daysOf(turns: readonly TurnEntry[]) {
  const days: { day: string; entries: TurnEntry[] }[] = [];
  for (const turn of turns) {
    const day = dayOf(turn.at, Date.now());
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(turn);
    else days.push({ day, entries: [turn] });
  }
  return days;
}
