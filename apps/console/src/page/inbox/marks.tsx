import type { ShownConversation } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { counted } from '../ui/format.ts';

const STATES: Readonly<Record<ShownConversation['state'], string | null>> = {
  idle: null,
  waiting: 'Waiting',
  running: 'Running',
  asks: 'Waits for approval',
};

/** What happens in a conversation now; nothing where nothing does. */
export function StateMark(props: { readonly conversation: ShownConversation }): VNode | null {
  const { state, waiting } = props.conversation;
  const label = STATES[state];
  if (label === null) return null;
  const more = waiting > 0 ? `, ${counted(waiting, 'message')} waiting` : '';
  return (
    <b class={`mark is-${state}`}>
      {label}
      {more}
    </b>
  );
}

/** The channel, its account where there are several, and what kind of chat it is. */
export function placeOf({
  channel,
  account,
  chatType,
}: Pick<ShownConversation, 'channel' | 'account' | 'chatType'>): string {
  const where = account === 'default' ? channel : `${channel}/${account}`;
  return chatType === 'direct' ? where : `${where} ${chatType}`;
}
