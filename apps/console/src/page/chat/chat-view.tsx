import type { Button } from '@parley/core';
import type { RefObject, VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { openBranch } from '../branch.ts';
import { readDraft, saveDraft, saveText } from '../drafts.ts';
import { toHref } from '../route.ts';
import { DataScope } from '../ui/data.tsx';
import { Icon } from '../ui/icon.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { useStickToBottom } from '../ui/stick-to-bottom.ts';
import { List, TextButton } from '../ui/widgets.tsx';
import type { ChatClient } from './client.ts';
import { Composer } from './composer.tsx';
import {
  type AnswerEntry,
  type ConversationEntry,
  findLastQuestion,
  findPressedButton,
  isAnswering,
  type PersonMessageEntry,
} from './conversation.ts';
import { ChosenFiles, useChosenFiles } from './files.tsx';
import { MessageLog } from './messages.tsx';

/** The agent and its model. */
export interface AgentInfo {
  readonly name: string;
  /**
   * The answering model and the reason for its selection, in one sentence; empty until it is known.
   */
  readonly model: string;
  /** Whether only the built-in model is available. */
  readonly offline: boolean;
}

interface ChatViewProps {
  readonly client: ChatClient;
  readonly agent: AgentInfo;
  /** The conversation's id; null until the chat has one. */
  readonly conversation: string | null;
}

const answering = async () => (await import('../inbox/answering.tsx')).ModeAndModelSettings;

/** The chat: all its messages, and the composer. */
export function ChatView({ client, agent, conversation: id }: ChatViewProps): VNode {
  const conversation = client.conversation.value;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const chat = client.chat.value;
  const [draft, setDraft] = useDraft(chat);
  const chosen = useChosenFiles(conversation.limits, field);
  const { stuck, toEnd } = useStickToBottom(scroller, content);
  const write = useCallback((text: string): void => {
    setDraft(text);
    field.current?.focus();
  }, []);
  const [edited, setEdited] = useEditedMessageId(chat);
  const send = (text: string): void => {
    // Commands cannot include files, so attached files are kept for the next message.
    const files = text.trim().startsWith('/') ? [] : chosen.files;
    if (text.trim() === '' && files.length === 0) return;
    client.send(text, files, { replaces: edited ?? undefined });
    setEdited(null);
    if (files.length > 0) chosen.clear();
    write('');
    toEnd();
  };
  const cancelEdit = (): void => {
    setEdited(null);
    write('');
  };
  const actions = useMemo(
    () => ({
      ...createMessageActions(client, id, write, field),
      rewrite(message: PersonMessageEntry) {
        setEdited(message.id);
        write(message.text);
      },
    }),
    [client, write, setEdited, id],
  );
  useInitialFocus(field);
  const { entries, loaded } = conversation;
  const isEmpty = loaded && entries.length === 0 && !conversation.live;
  const onTry = (text: string): void => (text.startsWith('/') ? send(text) : write(text));
  return (
    <main class="chat" onDragOver={(event) => event.preventDefault()} onDrop={chosen.drop}>
      <div ref={scroller} class="scroller" tabIndex={0} role="region" aria-label="Messages">
        <div ref={content} class="column">
          {isEmpty && <EmptyState agent={agent} onTry={onTry} />}
          <DataScope>
            <MessageLog conversation={conversation} agent={agent.name} actions={actions} />
          </DataScope>
        </div>
      </div>
      <div class="dock column">
        {!stuck && <JumpButton toEnd={toEnd} />}
        {edited !== null && loaded && (
          <EditNote
            last={findLastQuestion(entries)}
            edited={edited}
            onSendAsNew={() => setEdited(null)}
            onCancel={cancelEdit}
          />
        )}
        <ChosenFiles {...chosen} />
        <Composer
          field={field}
          draft={draft}
          agent={agent.name}
          commands={conversation.commands}
          busy={isAnswering(conversation)}
          hasFiles={chosen.files.length > 0}
          onFiles={chosen.add}
          onDraft={setDraft}
          onSend={send}
          onCancelEdit={edited === null ? null : cancelEdit}
          onStop={() => {
            client.send('/stop');
            field.current?.focus();
          }}
        >
          <ModeAndModel {...{ id, isEmpty, agent, client }} />
        </Composer>
      </div>
    </main>
  );
}

function useInitialFocus(field: RefObject<HTMLElement>): void {
  useEffect(() => {
    // On a phone, focusing the field would open the keyboard over the page.
    if (matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);
}

interface ModeAndModelProps extends Pick<ChatViewProps, 'client' | 'agent'> {
  readonly id: string | null;
  readonly isEmpty: boolean;
}

/**
 * The chat's mode and model, if they are known. A chat that already has messages will appear in the
 * list soon.
 */
function ModeAndModel({ id, isEmpty, agent, client }: ModeAndModelProps): VNode | null {
  const wasEmpty = useRef(false);
  wasEmpty.current ||= isEmpty;
  if (agent.model === '' || (id === null && !wasEmpty.current)) return null;
  const round = client.conversation.value.entries.length;
  const onCommand = (command: string): void => client.send(command);
  return <Lazy load={answering} props={{ id, round, usualModel: agent.model, onCommand }} />;
}

interface EditNoteProps {
  /** The message that can be replaced. */
  readonly last: PersonMessageEntry | undefined;
  /** The id of the message being edited. */
  readonly edited: string;
  readonly onSendAsNew: () => void;
  readonly onCancel: () => void;
}

/** The note above the composer while a sent message is being edited. */
function EditNote({ last, edited, onSendAsNew, onCancel }: EditNoteProps): VNode {
  if (last?.id !== edited) {
    return (
      <p class="hint" role="status">
        The message you are editing is no longer your last one. This will be sent as a new message.{' '}
        <TextButton label="Cancel" onPress={onCancel} />
      </p>
    );
  }
  const files = last.files.length > 0 ? ' Its files are sent again unless you add others.' : '';
  return (
    <p class="hint" role="status">
      Replaces your last message and its answer.{files}{' '}
      <TextButton label="Send as new" onPress={onSendAsNew} /> ·{' '}
      <TextButton label="Cancel" onPress={onCancel} />
    </p>
  );
}

function JumpButton({ toEnd }: { readonly toEnd: () => void }): VNode {
  const label = 'Go to the newest message';
  return (
    <button type="button" class="jump" onClick={toEnd} aria-label={label} title={label}>
      <Icon name="down" />
    </button>
  );
}

function createMessageActions(
  client: ChatClient,
  id: string | null,
  write: (text: string) => void,
  field: RefObject<HTMLElement>,
) {
  return {
    filePath: (message: string, index: number) =>
      `/channels/web/default/files/${message}/${index}?chat=${client.chat.peek()}`,
    sentPath: (part: string) => `/channels/web/default/sent/${part}?chat=${client.chat.peek()}`,
    dismiss: client.dismiss,
    askAgain() {
      const last = findLastQuestion(client.conversation.peek().entries);
      if (last !== undefined) client.send(last.text, [], { replaces: last.id });
    },
    edit({ id, text }: { readonly id: string; readonly text: string }) {
      client.dismiss(id);
      write(text);
    },
    rewind(entry: ConversationEntry) {
      client.send('/rewind', [], { quotes: entry.id });
      if (entry.kind === 'mine') write(entry.text);
    },
    branch:
      id === null
        ? null
        : ({ id: entry, ...one }: ConversationEntry) =>
            openBranch(id, entry, one.kind === 'mine' ? one.text : ''),
    press(answer: AnswerEntry, { data }: Button) {
      // A second click may arrive before the page is redrawn.
      if (findPressedButton(answer, client.conversation.peek().entries) !== null) return;
      client.send(data);
      // The clicked button disappears, so keyboard users would lose the focus.
      field.current?.focus({ preventScroll: true });
    },
  };
}

/**
 * The unsent text of a chat. The draft is stored immediately, because another chat may be shown at
 * any moment.
 */
function useDraft(chat: string): readonly [string, (text: string) => void] {
  const [draft, setDraft] = useState(() => readDraft(chat));
  const change = useCallback((text: string): void => {
    saveDraft(chat, text);
    setDraft(text);
  }, []);
  return [draft, change];
}

/** The id of the message that the draft replaces. It survives a reload of the page. */
function useEditedMessageId(chat: string): readonly [string | null, (id: string | null) => void] {
  const [id, setId] = useState(() => localStorage.getItem(EDITED + chat));
  const change = useCallback(
    (next: string | null): void => {
      saveText(EDITED + chat, next ?? '');
      setId(next);
    },
    [chat],
  );
  return [id, change];
}

/** Prefix of the storage keys; each chat has its own. */
const EDITED = 'parley.edited.';

const TO_TRY = ['What can you do?', 'Explain what a message queue is', '/help', '/status'];

/** The view of an empty chat: a welcome, and suggestions that `onTry` fills in or sends. */
function EmptyState(props: { agent: AgentInfo; onTry: (text: string) => void }): VNode {
  const { name, offline } = props.agent;
  return (
    <section class="empty" aria-label="Welcome">
      <img src="/page/icon.svg" alt="" width={64} height={64} />
      <h2 class="title">Say hello to {name}</h2>
      <p class="lead">
        Your own agent, on your own machine. Here you talk to it as its owner, and it answers in
        every channel you connect.
      </p>
      {offline && (
        <p class="card">
          No model is connected yet, so a small built-in model answers.{' '}
          <a href={toHref('setup')}>Connect a model</a>, or start a local model server such as
          Ollama.
        </p>
      )}
      <List look="row choices" of={TO_TRY}>
        {(text) => (
          <button key={text} type="button" class="action" onClick={() => props.onTry(text)}>
            {text}
          </button>
        )}
      </List>
    </section>
  );
}
