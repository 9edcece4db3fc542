import type { Button } from '@parley/core';
import { h, type VNode } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useElement, useStickToBottom } from '../ui/elements.ts';
import { Icon, listOf, p } from '../ui/widgets.ts';
import type { ChatClient } from './client.ts';
import { Composer } from './composer.ts';
import { type Answer, type Conversation, chosenOf, isBusy } from './conversation.ts';
import { MessageLog } from './messages.ts';

/** The agent and its model. */
export interface AgentInfo {
  readonly name: string;
  /** Which model answers and why, in one sentence; empty until it is known. */
  readonly model: string;
  /** Only the built-in model answers yet. */
  readonly offline: boolean;
}

interface ChatViewProps {
  readonly client: ChatClient;
  readonly conversation: Conversation;
  readonly agent: AgentInfo;
}

/** The chat: all messages, and the field to write in. */
export function ChatView({ client, conversation, agent }: ChatViewProps): VNode {
  const scroller = useElement(HTMLDivElement);
  const content = useElement(HTMLDivElement);
  const field = useElement(HTMLTextAreaElement);
  const [draft, setDraft] = useState('');
  const { stuck, toEnd } = useStickToBottom(scroller, content);
  const write = useCallback((text: string): void => {
    setDraft(text);
    field.current?.focus();
  }, []);
  const send = (text: string): void => {
    if (text.trim() === '') return;
    client.send(text);
    write('');
    toEnd();
  };
  const actions = useMemo(
    () => actionsOf(client, write, () => field.current?.focus({ preventScroll: true })),
    [client, write],
  );
  useEffect(() => {
    // On a telephone this would push the keyboard over the page.
    if (matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);
  const { entries, loaded } = conversation;
  const isEmpty = loaded && entries.length === 0 && !conversation.live;
  const onTry = (text: string): void => (text.startsWith('/') ? send(text) : write(text));
  return h(
    'main',
    { class: 'chat' },
    h(
      'div',
      {
        ref: scroller.ref,
        class: 'scroller',
        tabIndex: 0,
        role: 'region',
        'aria-label': 'Messages',
      },
      h(
        'div',
        { ref: content.ref, class: 'column' },
        isEmpty && h(EmptyState, { agent: agent.name, offline: agent.offline, onTry }),
        h(MessageLog, { conversation, agent: agent.name, actions }),
      ),
    ),
    h(
      'div',
      { class: 'dock column' },
      !stuck && h(JumpButton, { toEnd }),
      h(Composer, {
        field,
        draft,
        agent: agent.name,
        commands: conversation.commands,
        busy: isBusy(conversation),
        onDraft: setDraft,
        onSend: send,
        onStop: () => {
          client.send('/stop');
          field.current?.focus();
        },
      }),
      h(
        'p',
        { class: 'keys', 'aria-hidden': 'true' },
        'Enter sends · Shift+Enter new line · / for commands',
      ),
    ),
  );
}

function JumpButton({ toEnd }: { readonly toEnd: () => void }): VNode {
  const label = 'Go to the newest message';
  return h(
    'button',
    { type: 'button', class: 'jump', onClick: toEnd, 'aria-label': label, title: label },
    h(Icon, { name: 'down' }),
  );
}

function actionsOf(client: ChatClient, write: (text: string) => void, focus: () => void) {
  return {
    dismiss: client.dismiss,
    edit({ id, text }: { readonly id: string; readonly text: string }) {
      client.dismiss(id);
      write(text);
    },
    press(answer: Answer, { data }: Button) {
      // A second click may come before the page is drawn again.
      if (chosenOf(answer, client.now().entries) !== null) return;
      client.send(data);
      // The button disappears; who works by keyboard keeps a focus.
      focus();
    },
  };
}

interface EmptyProps {
  readonly agent: string;
  /** No model is connected; the offline one answers. */
  readonly offline: boolean;
  /** Puts a text into the composer, or sends it if it is a command. */
  readonly onTry: (text: string) => void;
}

const TO_TRY = ['What can you do?', 'Explain what a message queue is', '/help', '/status'];

/** What a newcomer sees: what this is, and something to try. */
function EmptyState({ agent, offline, onTry }: EmptyProps): VNode {
  return h(
    'section',
    { class: 'empty', 'aria-label': 'Welcome' },
    h('img', { src: '/page/icon.svg', alt: '', width: 64, height: 64 }),
    h('h2', { class: 'title' }, `Say hello to ${agent}`),
    p(
      'lead',
      'This is your own agent, on your own machine. Here you talk to it as its owner; the same agent answers in every chat you connect.',
    ),
    offline && h(OfflineHint, null),
    listOf('choices', TO_TRY, (text) =>
      h('button', { key: text, type: 'button', onClick: () => onTry(text) }, text),
    ),
  );
}

function OfflineHint(): VNode {
  return p(
    'offline',
    'No model is connected yet, so answers come from a small built-in one. Connect yours in ',
    h('code', null, 'parley.yaml'),
    ', or start a local server such as Ollama.',
  );
}
