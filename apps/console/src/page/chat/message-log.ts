import { Fragment, h, type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { HtmlBlock } from '../ui/html-block.ts';
import { dayOf } from '../ui/moment.ts';
import { chosenOf, labelsOf } from './chosen.ts';
import type { Conversation, Entry } from './conversation.ts';
import { AnswerMessage, type MessageActions, MineMessage } from './messages.ts';
import type { CommandHint } from './wire.ts';

interface LogProps {
  readonly conversation: Conversation;
  /** The agent's name. */
  readonly agent: string;
  readonly actions: MessageActions;
}

/**
 * Everything said, oldest first. Finished messages stand in a log that a screen reader reads out as
 * they come; the growing one stands below it, or every piece of it would be read again.
 */
export function MessageLog({ conversation, agent, actions }: LogProps): VNode {
  const { entries, live, typing, commands, link } = conversation;
  const list = useMemo(
    () => listOf(entries, commands, agent, actions),
    [entries, commands, agent, actions],
  );
  const log = { role: 'log', 'aria-live': 'polite', 'aria-label': 'Conversation' } as const;
  return h(
    Fragment,
    null,
    h('div', { class: 'messages', ...log, 'aria-relevant': 'additions' }, list),
    live &&
      h(
        'div',
        { class: `answer is-live ${link === 'online' ? '' : 'is-stale'}`, 'aria-live': 'off' },
        h(HtmlBlock, { html: live.html }),
      ),
    typing && !live && h(TypingDots, null),
  );
}

function listOf(
  entries: readonly Entry[],
  commands: readonly CommandHint[],
  agent: string,
  actions: MessageActions,
): VNode[] {
  const list: VNode[] = [];
  const labels = labelsOf(entries);
  let day = '';
  for (const entry of entries) {
    const itsDay = dayOf(entry.at, Date.now());
    if (itsDay !== day) list.push(h('p', { key: `day ${itsDay}`, class: 'day' }, itsDay));
    day = itsDay;
    list.push(
      entry.kind === 'mine'
        ? h(MineMessage, {
            key: entry.id,
            message: entry,
            commands,
            label: labels.get(entry.id) ?? null,
            actions,
          })
        : h(AnswerMessage, {
            key: entry.id,
            message: entry,
            agent,
            chosen: chosenOf(entry, entries),
            onPress: actions.press,
          }),
    );
  }
  return list;
}

function TypingDots(): VNode {
  return h(
    'div',
    { class: 'typing', 'aria-hidden': 'true' },
    [1, 2, 3].map((dot) => h('i', { key: dot })),
  );
}
