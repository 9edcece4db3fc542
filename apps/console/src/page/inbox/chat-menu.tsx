import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { runOperation } from '../gateway.ts';
import { toHref } from '../route.ts';
import { DataScope, useActionRunner, useOperation } from '../ui/data.tsx';
import { formatCounted } from '../ui/format.ts';
import { ActionButton, DataContent, OutcomeNote } from '../ui/widgets.tsx';
import type { InboxState } from './inbox-state.ts';
import { toRowHref } from './row-links.tsx';
import type { InboxRow } from './rows.ts';

export interface ChatMenuProps {
  readonly state: InboxState;
  /** Whether a chat on this page is shown, rather than a conversation on another channel. */
  readonly isChat: boolean;
  readonly clearContext: () => void;
  /** Shows the chat on the page without the deleted messages. */
  readonly restart: () => void;
  readonly row: InboxRow | null;
}

/** The current chat's menu items, in a popover. */
export function ChatMenu(props: ChatMenuProps): VNode {
  const { state, isChat, clearContext, row } = props;
  const box = useRef<HTMLDivElement>(null);
  const close = (): void => box.current?.hidePopover();
  const leading = (action: () => void) => (): void => {
    action();
    close();
  };
  return (
    <div id="chat-menu" class="menu" popover="auto" ref={box} role="group" aria-label="Chat">
      <DataScope key={row?.id ?? ''}>
        {row !== null && !row.isEmpty && <MarkItems {...{ row, state, close }} />}
        {isChat && (
          <button
            type="button"
            class="quiet"
            title="Earlier messages stay here, but the agent no longer sees them"
            onClick={leading(clearContext)}
          >
            Clear context
          </button>
        )}
        {row !== null && (
          <button
            type="button"
            class="quiet"
            onClick={leading(() => {
              state.isPanelOpen.value = !state.isPanelOpen.value;
            })}
          >
            Details
          </button>
        )}
        {row !== null && !row.isEmpty && <DeleteItem {...props} row={row} close={close} />}
      </DataScope>
    </div>
  );
}

interface ItemsProps {
  readonly row: InboxRow;
  readonly state: InboxState;
  readonly close: () => void;
}

/** Pins, renames, archives or marks a conversation in the reader's inbox. */
function MarkItems({ row, state, close }: ItemsProps): VNode {
  const [isNamed, setNamed] = useState(false);
  const { outcome, run } = useActionRunner();
  const { id, isPinned, isArchived, title } = row;
  const change = <Name extends OperationName>(name: Name, input: InputOf<Name>): void =>
    run(async () => {
      const failed = await runOperation(name, input);
      state.round.value += 1;
      if (failed === undefined) close();
      return failed;
    });
  const rename = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const name = String(new FormData(event.currentTarget).get('name') ?? '');
    change('conversations/rename', { id, title: name });
    setNamed(false);
  };
  const markUnread = (): void => {
    // Leaves the conversation, because an open conversation is immediately marked as read.
    location.hash = toHref('conversations');
    change('conversations/mark-unread', { id });
  };
  return (
    <>
      <ChatMenuItem
        label={isPinned ? 'Unpin' : 'Pin'}
        onPress={() => change('conversations/pin', { id, pinned: !isPinned })}
      />
      {isNamed ? (
        <form class="stack" onSubmit={rename}>
          <input
            class="field"
            name="name"
            aria-label="Chat name"
            maxLength={80}
            defaultValue={title}
            autofocus
          />
          <button type="submit" class="quiet">
            Rename
          </button>
        </form>
      ) : (
        <ChatMenuItem label="Rename…" onPress={() => setNamed(true)} />
      )}
      {!row.isOnlyChat && <ChatMenuItem label="Mark as unread" onPress={markUnread} />}
      <ChatMenuItem
        label={isArchived ? 'Move to the inbox' : 'Archive'}
        onPress={() => change('conversations/archive', { id, archived: !isArchived })}
      />
      <OutcomeNote outcome={outcome} />
    </>
  );
}

function ChatMenuItem({
  label,
  onPress,
}: {
  readonly label: string;
  readonly onPress: () => void;
}): VNode {
  return (
    <button type="button" class="quiet" onClick={onPress}>
      {label}
    </button>
  );
}

interface DeleteProps extends ChatMenuProps {
  readonly row: InboxRow;
  readonly close: () => void;
}

/** Deletes the conversation after showing what will be lost. */
function DeleteItem({ row, state, isChat, restart, close }: DeleteProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const contents = useOperation('conversations/contents', isAsked ? { id: row.id } : null);
  const { outcome, run } = useActionRunner();
  const remove = (): void =>
    run(async () => {
      const next = state.next.peek();
      const failed = await runOperation('conversations/delete', { id: row.id });
      state.round.value += 1;
      if (failed !== undefined) return failed;
      location.hash = next === null ? toHref('conversations') : toRowHref(next);
      if (isChat) restart();
      close();
      return undefined;
    });
  if (!isAsked) return <ChatMenuItem label="Delete…" onPress={() => setAsked(true)} />;
  return (
    <div class="menu-question" role="group" aria-label="Delete this conversation?">
      <DataContent data={contents}>
        {(found) => (
          <>
            <p>
              This deletes {describeDeletedContents(found)} for everyone who uses this page. You
              can't undo it.
            </p>
            <p class="hint">
              {row.channel === 'web' ? '' : 'What was sent stays visible in the other app. '}
              Memories, the agent's files and spending records are kept.
            </p>
            <p class="actions">
              <ActionButton label="Delete" look="is-grave" onPress={remove} />
              <ActionButton label="Cancel" onPress={() => setAsked(false)} />
            </p>
          </>
        )}
      </DataContent>
      <OutcomeNote outcome={outcome} />
    </div>
  );
}

/** Describes what will be lost. */
function describeDeletedContents({
  messages,
  answers,
  files,
  cronJobs,
}: OutputOf<'conversations/contents'>): string {
  const counts = [
    formatCounted(messages, 'message'),
    formatCounted(answers, 'answer'),
    ...(files === 0 ? [] : [formatCounted(files, 'file')]),
    ...(cronJobs === 0 ? [] : [formatCounted(cronJobs, 'job')]),
  ];
  return new Intl.ListFormat('en').format(counts);
}
