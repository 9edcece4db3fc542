import type { VNode } from 'preact';
import { useRowAgents } from '../agents.tsx';
import { toChatHref, toHref } from '../route.ts';
import { formatDay, formatTimeOfDay } from '../ui/format.ts';
import type { OlderPage } from '../ui/growing.ts';
import { Icon } from '../ui/icon.tsx';
import { List, OlderButton } from '../ui/widgets.tsx';
import { getInitials, type InboxRow } from './rows.ts';

interface LinksProps {
  readonly rows: readonly InboxRow[];
  /** Whether other conversations may exist that a filter hides. */
  readonly isFiltered: boolean;
  readonly isChosen: (row: InboxRow) => boolean;
  readonly older: OlderPage | null;
}

/** The rows of the inbox as links. */
export function RowLinks({ rows, isFiltered, isChosen, older }: LinksProps): VNode {
  return (
    <nav class="inbox-rows" aria-label="Conversations">
      {rows.length === 0 && (
        <p class="nothing">{isFiltered ? 'Nothing here.' : 'No conversations yet.'}</p>
      )}
      <List look="" of={rows}>
        {(row) => <RowLink key={row.id} row={row} isChosen={isChosen(row)} />}
      </List>
      <OlderButton label="Older conversations" older={older} />
    </nav>
  );
}

/** The address of a row: the chat if it belongs to this page, otherwise the conversation. */
export function toRowHref({ id, chat }: Pick<InboxRow, 'id' | 'chat'>): string {
  return chat === null ? toHref('conversations', id) : toChatHref(chat);
}

function RowLink(props: { readonly row: InboxRow; readonly isChosen: boolean }): VNode {
  const { row, isChosen } = props;
  const agent = useRowAgents().titleOf(row.chat ?? row.id);
  return (
    <a
      href={toRowHref(row)}
      class={`inbox-row ${row.isNew ? 'is-new' : ''}`}
      aria-current={isChosen ? 'page' : undefined}
    >
      <RowAvatar title={row.title} channel={row.channel} />
      <span class="entry-title clip">
        {row.isPinned && <Icon name="pin" />}
        {row.title}
      </span>
      {row.at > 0 && (
        <time class="hint" dateTime={new Date(row.at).toISOString()}>
          {formatShortTime(row.at)}
        </time>
      )}
      <span class="hint clip">{row.said}</span>
      <RowMark row={row} />
      <span class={agent === null ? 'visually-hidden' : 'hint clip inbox-place'}>
        {row.place}
        {agent !== null && ` · ${agent}`}
      </span>
    </a>
  );
}

/** The initials of a conversation, and a letter for its channel. */
function RowAvatar({
  title,
  channel,
}: {
  readonly title: string;
  readonly channel: string;
}): VNode {
  return (
    <span class="face" aria-hidden="true">
      {getInitials(title)}
      <b class={`of-${channel}`}>{channel === 'web' ? 'P' : channel.charAt(0).toUpperCase()}</b>
    </span>
  );
}

/** The most urgent state of a row, in this order: approval, failure, running, waiting, new. */
function RowMark({ row }: { readonly row: InboxRow }): VNode | null {
  const { state, waiting, hasFailed, isTakenOver, isNew } = row;
  if (state === 'asks') return <b class="mark is-asks">Approval</b>;
  if (isTakenOver) return <b class="mark is-waiting">Taken over</b>;
  if (state === 'running') return <b class="mark is-running">Running</b>;
  if (hasFailed) return <b class="mark is-failed">Failed</b>;
  if (state === 'waiting') return <b class="mark is-waiting">Waiting {waiting}</b>;
  return isNew ? <b class="mark is-new">New</b> : null;
}

/**
 * Formats a time as the time of day if it was today, as the weekday if it was within a week, and
 * otherwise as the date.
 */
function formatShortTime(at: number): string {
  const now = Date.now();
  const day = formatDay(at, now);
  if (day === 'Today') return formatTimeOfDay(at);
  if (day === 'Yesterday') return day;
  const isThisWeek = now - at < 6 * 24 * 60 * 60_000;
  const style = isThisWeek
    ? ({ weekday: 'short' } as const)
    : ({ day: 'numeric', month: 'short' } as const);
  return new Date(at).toLocaleDateString([], style);
}
