import type { ConversationList, ShownConversation } from '@parley/gateway/api';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useRowAgents } from '../agents.tsx';
import { hrefOf, type Route } from '../route.ts';
import { DataScope } from '../ui/data.tsx';
import { EntryLink, SplitView } from '../ui/frames.tsx';
import { List, Show } from '../ui/widgets.tsx';
import { ConversationSheet } from './conversation-sheet.tsx';
import { type Growing, useGrowing } from './growing.ts';
import { placeOf, StateMark } from './marks.tsx';
import { SearchForm, SearchResults } from './search.tsx';
import { isNew, keepSeen, looked, readSeen, type Seen } from './seen.ts';

/** The list is asked for again this often, in ms. */
const POLL_INTERVAL_MS = 4_000;

/**
 * Conversations of all channels (U08): `#/conversations/ID`, and `#/conversations/ID/at/MESSAGE/TIME` for a place that
 * was found. Every text is shown as text.
 */
export function ConversationsView({ args: [id = '', , message = '', at = ''] }: Route): VNode {
  const asked = useSignal('');
  const data = useGrowing('/api/conversations', POLL_INTERVAL_MS, readList, ({ id }) => id);
  const all = [...(data.value ?? [])].sort((a, b) => b.newest - a.newest);
  const chosen = all.find((one) => one.id === id);
  const seen = useSeen(data.value && all, chosen);
  return (
    <SplitView
      name="conversations"
      title="Conversations"
      label="Conversations"
      showsList={id === ''}
      list={
        <>
          <SearchForm onAsk={(text) => (asked.value = text)} />
          {asked.value === '' ? (
            <Show data={data}>
              {() => <ConversationLinks all={all} chosen={id} seen={seen} older={data.older} />}
            </Show>
          ) : (
            <DataScope key={asked.value}>
              <SearchResults asked={asked.value} chosen={message} />
            </DataScope>
          )}
        </>
      }
      back={hrefOf('conversations')}
    >
      {id === '' ? (
        <p class="nothing">Choose a conversation to read it here; nothing is sent by that.</p>
      ) : (
        <DataScope key={`${id} ${message}`}>
          <ConversationSheet id={id} found={message === '' ? null : { message, at }} />
        </DataScope>
      )}
    </SplitView>
  );
}

function readList({ conversations: items, next }: ConversationList) {
  return { items, next };
}

/** What was looked at; the chosen conversation is. */
function useSeen(
  all: readonly ShownConversation[] | undefined,
  chosen: ShownConversation | undefined,
): Seen | null {
  const ref = useRef<Seen | null>(null);
  if (ref.current === null && all !== undefined) ref.current = readSeen(all);
  if (ref.current !== null && chosen !== undefined) ref.current = looked(ref.current, chosen);
  const seen = ref.current;
  useEffect(() => {
    if (seen !== null) keepSeen(seen);
  }, [seen]);
  return seen;
}

interface LinksProps extends Pick<Growing<ShownConversation>, 'older'> {
  readonly all: readonly ShownConversation[];
  readonly chosen: string;
  readonly seen: Seen | null;
}

function ConversationLinks({ all, chosen, seen, older }: LinksProps): VNode {
  const [channel, setChannel] = useState('');
  const { isShown } = useRowAgents();
  if (all.length === 0) return <p class="nothing">Nobody has written yet.</p>;
  const channels = [...new Set(all.map((one) => one.channel))].sort();
  const shown = all
    .filter(({ id }) => isShown(id))
    .filter((one) => channel === '' || one.channel === channel);
  return (
    <div class="entry-list">
      {channels.length > 1 && (
        <label class="channel-filter">
          Channel{' '}
          <select
            class="field"
            value={channel}
            onChange={({ currentTarget: { value } }) => setChannel(value)}
          >
            <option value="">all</option>
            {channels.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      <List look="" of={shown}>
        {(one) => (
          <ConversationLink
            key={one.id}
            conversation={one}
            isChosen={one.id === chosen}
            isNew={seen !== null && isNew(seen, one)}
          />
        )}
      </List>
      {older && (
        <button type="button" class="quiet" onClick={older}>
          Older conversations
        </button>
      )}
    </div>
  );
}

interface LinkProps {
  readonly conversation: ShownConversation;
  readonly isChosen: boolean;
  readonly isNew: boolean;
}

function ConversationLink({ conversation, isChosen, isNew }: LinkProps): VNode {
  const { id, title, last, failure } = conversation;
  const agent = useRowAgents().titleOf(id);
  return (
    <EntryLink
      href={hrefOf('conversations', id)}
      title={title}
      at={last.at}
      facts={last.direction === 'out' ? `Answer: ${last.text}` : last.text}
      isChosen={isChosen}
      look={isNew ? 'is-new' : ''}
    >
      <span class="conversation-marks">
        {isNew && <b class="mark is-new">New</b>}
        <StateMark conversation={conversation} />
        {failure !== null && <b class="mark is-failed">Failed</b>}
        {placeOf(conversation)}
        {agent !== null && ` · ${agent}`}
      </span>
    </EntryLink>
  );
}
