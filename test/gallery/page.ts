import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RenderedPart, render } from '@parley/markup';
import { escapeText } from '@parley/simulators/draw';
import type { GalleryScreen } from './draw/bubble.ts';
import { GITHUB, TEAMS } from './draw/common-mark.ts';
import { DISCORD } from './draw/discord.ts';
import { GOOGLE_CHAT } from './draw/google-chat.ts';
import { SLACK } from './draw/slack.ts';
import { TELEGRAM } from './draw/telegram.ts';
import { TERMINAL } from './draw/terminal.ts';
import { WEB } from './draw/web.ts';
import { WHATSAPP } from './draw/whatsapp.ts';
import type { SampleAnswer } from './read-answers.ts';

/** Drawn side by side as phones; the terminal is wider and placed below, beside the source. */
const TELEPHONES: readonly GalleryScreen[] = [
  TELEGRAM,
  DISCORD,
  WHATSAPP,
  WEB,
  SLACK,
  TEAMS,
  GOOGLE_CHAT,
  GITHUB,
];

/** Every platform an answer is shown on. */
export const SCREENS: readonly GalleryScreen[] = [...TELEPHONES, TERMINAL];

const CONSOLE_STYLES = join(import.meta.dirname, '../../apps/console/src/page/style');
/** Drawn like the platforms in `parley simulate`. */
const PLATFORM_STYLES = join(import.meta.dirname, '../../apps/console/src/page/simulate/style');

/** The whole page is self-contained, without scripts and external resources. */
export function renderGalleryPage(answers: readonly SampleAnswer[]): string {
  const entries = answers.map(({ id, title }) => `<li><a href="#${id}">${escapeText(title)}</a>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Parley: answers on every platform</title>
<style>${readStyles()}</style>
<header>
<h1>One answer, every platform</h1>
<p>What ${answers.length} Markdown answers become: each message as the app would show it, on a telephone of 360 pixels, with its length as the platform counts it. Hidden text shows when you point at it.</p>
<nav aria-label="Answers"><ol>${entries.join('')}</ol></nav>
</header>
<main>${answers.map(renderAnswer).join('\n')}</main>
</html>
`;
}

function renderAnswer({ id, title, look, markdown }: SampleAnswer): string {
  return `<section id="${id}">
<h2><a href="#${id}">${escapeText(title)}</a> <small>${escapeText(look)}</small></h2>
<div class="telephones">${TELEPHONES.map((screen) => renderColumn(screen, markdown)).join('')}</div>
<div class="wide">
<div class="column"><h3>Source <small>${markdown.length} characters</small></h3><pre class="source">${escapeText(markdown)}</pre></div>
${renderColumn(TERMINAL, markdown)}
</div>
</section>`;
}

function renderColumn(screen: GalleryScreen, markdown: string): string {
  const parts = render(markdown, screen.target);
  const count = parts.length === 1 ? 'one message' : `${parts.length} messages`;
  const bubbles = parts.map((part) => renderBubble(screen, part)).join('');
  return `<div class="column"><h3>${screen.name} <small>${count}</small></h3><div class="screen ${screen.id}">${bubbles}</div></div>`;
}

/** Text that the platform refuses is shown as a failure. */
function renderBubble({ id, target, draw }: GalleryScreen, part: RenderedPart): string {
  try {
    const { html, length } = draw(part);
    const limit =
      target.maxLength < 1_000_000 ? ` of ${target.maxLength.toLocaleString('en')}` : '';
    const counted = `${length.toLocaleString('en')}${limit}`;
    const face =
      id === 'discord' ? '<div class="face"><b>P</b>Parley <small>APP</small></div>' : '';
    return `<article>${face}<div class="message">${html}</div><footer>${counted}</footer></article>`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `<article class="refused"><div class="message"><b>Refused:</b> ${escapeText(reason)}<pre>${escapeText(part.text)}</pre></div></article>`;
  }
}

function readStyles(): string {
  const platforms = ['telephones.css', 'telegram.css', 'discord.css', 'whatsapp.css'];
  const own = [
    join(import.meta.dirname, 'page.css'),
    ...platforms.map((file) => join(PLATFORM_STYLES, file)),
  ]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const console = ['base.css', 'prose.css', 'chat.css']
    .map((file) => readFileSync(join(CONSOLE_STYLES, file), 'utf8'))
    .join('\n')
    // Inside `@scope`, `:root` would not match, so `:scope` replaces it.
    .replaceAll(':root', ':scope');
  return `${own}\n@scope (.web) {\n${console}\n}`;
}
