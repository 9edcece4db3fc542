import { h, type VNode } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ChatClient } from '../chat/chat-client.ts';
import { chosenOf } from '../chat/chosen.ts';
import { Composer } from '../chat/composer.ts';
import { type Answer, type Conversation, isBusy } from '../chat/conversation.ts';
import { EmptyState } from '../chat/empty-state.ts';
import { MessageLog } from '../chat/message-log.ts';
import type { Button } from '../chat/wire.ts';
import type { AgentInfo } from '../gateway-info.ts';
import { Icon } from '../ui/icons.ts';
import { useElement } from '../ui/use-element.ts';
import { useStickToBottom } from '../ui/use-stick-to-bottom.ts';

interface ChatViewProps {
  readonly client: ChatClient;
  readonly conversation: Conversation;
  readonly agent: AgentInfo;
}

/** The chat: everything said, and where one writes. */
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
      // The button goes; whoever came by keyboard is not left nowhere.
      focus();
    },
  };
}
