import { render, type VNode } from 'preact';
import { ChatList } from './chat-list.tsx';
import { Composer } from './composer.tsx';
import { Controls } from './controls.tsx';
import { Conversation } from './conversation.tsx';
import { createPlayState, getPlayerContext, type PlayState, watchWorld } from './play.ts';

const NAMES = {
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
  whatsapp: 'WhatsApp',
} as const;

/**
 * Shows the chats on the left, the conversation in the middle, and the controls for the simulated
 * world on the right.
 */
function Page({ state }: { readonly state: PlayState }): VNode {
  const play = getPlayerContext(state);
  const trouble = state.trouble.value;
  if (play === null) return <p class="nothing">{trouble ?? 'Connecting…'}</p>;
  const { world, chat } = play;
  return (
    <div class={`play on-${world.platform}`}>
      <header class="row top">
        <h1>{NAMES[world.platform]}, simulated</h1>
        <p class="grow">
          {state.link.value === 'lost'
            ? 'The simulation has ended or does not answer.'
            : 'Runs on this machine only. The bot is a Parley with your settings.'}
        </p>
        <a href={world.console} target="_blank" rel="noreferrer">
          Open this Parley's page
        </a>
      </header>
      <ChatList state={state} play={play} />
      <main class="talk" aria-label={chat.title}>
        <Conversation key={chat.key} state={state} play={play} />
        {trouble !== null && (
          <p class="trouble" role="alert">
            {trouble}
          </p>
        )}
        <Composer state={state} play={play} />
      </main>
      <Controls state={state} play={play} />
    </div>
  );
}

function main(): void {
  const root = document.getElementById('app');
  if (!root) throw new Error('The page does not contain #app, so its index.html is damaged.');
  const state = createPlayState();
  render(<Page state={state} />, root);
  void watchWorld(state);
}

main();
