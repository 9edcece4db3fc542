import type { WebChat } from '@parley/channels/web';
import type { OutputOf } from '@parley/gateway/operations';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useRowAgents } from '../agents.tsx';
import type { Route } from '../route.ts';
import { DataScope, useData, useDataScope } from '../ui/data.tsx';
import { useGrowingList } from '../ui/growing.ts';
import { Icon } from '../ui/icon.tsx';
import { DataContent } from '../ui/widgets.tsx';
import type { InboxState } from './inbox-state.ts';
import { NewChat } from './new-chat.tsx';
import { useInitialInbox, useMarkAsRead } from './reading.ts';
import { RowLinks } from './row-links.tsx';
import {
  FILTERS,
  findPageChat,
  type InboxRow,
  type ListedConversation,
  listInboxRows,
  listOlderNamedConversations,
  matchesFilter,
  type RowFilter,
} from './rows.ts';
import { SearchResults } from './search.tsx';

/** How long to wait after the last keystroke before searching, in ms. */
const TYPING_PAUSE_MS = 200;

export interface ColumnProps {
  readonly route: Route;
  /** The chat that is open on the page. */
  readonly chat: string;
  readonly isOnline: boolean;
  readonly state: InboxState;
}

/**
 * All conversations, both the person's own chats and those of every channel, with full-text search
 * (U08).
 */
export function InboxColumn(props: ColumnProps): VNode {
  return (
    <DataScope>
      <InboxColumnContent {...props} />
    </DataScope>
  );
}

function InboxColumnContent(props: ColumnProps): VNode {
  const { route, state } = props;
  const asked = useSignal('');
  const filter = useSignal<RowFilter>('all');
  const channel = useSignal('');
  const { rows, marks, data, isChosen } = useInboxRows(props);
  const chosen = rows.find(isChosen) ?? null;
  const { ofOne, chosen: agent } = useRowAgents();
  const title = agent === undefined || route.view === 'chat' ? 'Inbox' : ofOne('Inbox');
  const ofChannel = rows.filter((row) => channel.value === '' || row.channel === channel.value);
  const shown = ofChannel.filter((row) => matchesFilter(filter.value, row));
  useEffect(() => {
    state.row.value = chosen;
    state.next.value = chosen && findNeighbor(chosen, shown);
  });
  const Box = route.view === 'conversations' && route.args.length === 0 ? 'main' : 'section';
  return (
    <Box class="inbox" aria-label="Inbox">
      <header>
        <h2>{title}</h2>
        <NewChat />
      </header>
      <SearchField onAsk={(text) => (asked.value = text)} />
      {asked.value === '' ? (
        <>
          <Filters all={rows} ofChannel={ofChannel} filter={filter} channel={channel} />
          <DataContent data={data}>
            {() => (
              <RowLinks
                rows={shown}
                isFiltered={filter.value !== 'all' || channel.value !== ''}
                isChosen={isChosen}
                older={data.older}
              />
            )}
          </DataContent>
        </>
      ) : (
        <DataScope key={asked.value}>
          <SearchResults
            asked={asked.value}
            titled={[...rows, ...listOlderNamedConversations(marks, rows)]}
            chosen={route.args[2] ?? ''}
          />
        </DataScope>
      )}
    </Box>
  );
}

/** The rows, and the current conversation's row. */
function useInboxRows({ route, chat, isOnline, state }: ColumnProps) {
  const data = useGrowingList('conversations/list', {}, 'live', toConversationPage, ({ id }) => id);
  const chats = useData<readonly WebChat[]>(
    isOnline ? '/channels/web/default/chats' : null,
    'live',
  ).value;
  const { refresh } = useDataScope();
  useEffect(() => {
    if (state.round.value > 0) refresh();
  }, [state.round.value]);
  useInitialInbox({ list: (isOnline && data.first) || null, chats: chats ?? null });
  const { isShown, chosen: agent } = useRowAgents();
  const isChat = route.view !== 'conversations';
  const found = [...(data.value ?? [])].filter(({ id }) => isChat || isShown(id));
  const id = isChat ? undefined : route.args[0];
  const isOpen = (one: ListedConversation): boolean =>
    isChat ? findPageChat(one) === chat : one.id === id;
  useMarkAsRead(found.find(isOpen));
  const marks = data.first?.marks ?? [];
  const rows = listInboxRows({
    conversations: found.map((one) => ({ ...one, isNew: one.isNew && !isOpen(one) })),
    chats: (chats ?? []).filter((one) => isChat || isShown(one.id)),
    marks,
    isOfOneAgent: !isChat && agent !== undefined,
  });
  const isChosen = (row: InboxRow): boolean => (isChat ? row.chat === chat : row.id === id);
  return { rows, marks, data, isChosen };
}

/** The row below a visible one; for the last row, the row above it. */
function findNeighbor(row: InboxRow, shown: readonly InboxRow[]): InboxRow | null {
  const at = shown.findIndex(({ id }) => id === row.id);
  return shown[at + 1] ?? shown[at - 1] ?? null;
}

function toConversationPage({ conversations: items, next }: OutputOf<'conversations/list'>) {
  return { items, next };
}

/** Searches as the person types; an empty field shows the list again. */
function SearchField({ onAsk }: { readonly onAsk: (text: string) => void }): VNode {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const later = (text: string): void => {
    clearTimeout(timer.current);
    if (text.trim() === '') onAsk('');
    else timer.current = setTimeout(() => onAsk(text.trim()), TYPING_PAUSE_MS);
  };
  return (
    <search class="find">
      <Icon name="search" />
      <input
        type="search"
        maxLength={200}
        aria-label="Search in all conversations"
        placeholder="Search everything"
        onInput={({ currentTarget }) => later(currentTarget.value)}
      />
      <kbd>Ctrl K</kbd>
    </search>
  );
}

interface FiltersProps {
  readonly all: readonly InboxRow[];
  /** The rows of the selected channel, on which the other filters are based. */
  readonly ofChannel: readonly InboxRow[];
  readonly filter: { value: RowFilter };
  readonly channel: { value: string };
}

/** The filters with matching rows, each with the number of rows that need attention. */
function Filters({ all, ofChannel, filter, channel }: FiltersProps): VNode {
  // The selected channel stays an option after its last conversation was removed.
  const named = channel.value === '' ? [] : [channel.value];
  const channels = [...new Set([...all.map((row) => row.channel), ...named])].sort();
  const count = (one: RowFilter): number =>
    ofChannel.filter((row) => matchesFilter(one, row)).length;
  const shown = FILTERS.map(([one, name]) => ({ one, name, count: count(one) })).filter(
    ({ one, count }) => one === 'all' || one === filter.value || count > 0,
  );
  return (
    <div class="filters" role="group" aria-label="Show">
      {shown.map(({ one, name, count }) => (
        <button
          key={one}
          type="button"
          aria-pressed={filter.value === one}
          onClick={() => (filter.value = one)}
        >
          {name}
          {one !== 'all' && one !== 'mine' && one !== 'archived' && ` ${count}`}
        </button>
      ))}
      {channels.length > 1 && (
        <select
          aria-label="Channel"
          value={channel.value}
          onChange={({ currentTarget: { value } }) => (channel.value = value)}
        >
          <option value="">All channels</option>
          {channels.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}
    </div>
  );
}
