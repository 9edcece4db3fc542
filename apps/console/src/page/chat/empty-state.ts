import { h, type VNode } from 'preact';

interface EmptyProps {
  readonly agent: string;
  /** No model is connected; the offline one answers. */
  readonly offline: boolean;
  /** Puts a text into the composer, or sends it if it is a command. */
  readonly onTry: (text: string) => void;
}

const TO_TRY = ['What can you do?', 'Explain what a message queue is', '/help', '/status'];

/** What a newcomer sees: what this is, and something to try. */
export function EmptyState({ agent, offline, onTry }: EmptyProps): VNode {
  return h(
    'section',
    { class: 'empty', 'aria-label': 'Welcome' },
    h('img', { src: '/page/icon.svg', alt: '', width: 64, height: 64 }),
    h('h2', null, `Say hello to ${agent}`),
    h(
      'p',
      { class: 'lead' },
      'This is your own agent, on your own machine. Here you talk to it as its owner; the same agent answers in every chat you connect.',
    ),
    offline && h(OfflineHint, null),
    h(
      'ul',
      { class: 'tries', 'aria-label': 'Something to try' },
      TO_TRY.map((text) =>
        h('li', { key: text }, h('button', { type: 'button', onClick: () => onTry(text) }, text)),
      ),
    ),
  );
}

function OfflineHint(): VNode {
  return h(
    'p',
    { class: 'hint' },
    'No model is connected yet, so answers come from a small built-in one. Connect yours in ',
    h('code', null, 'parley.yaml'),
    ', or start a local server such as Ollama.',
  );
}
