import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from './capabilities.ts';
import { createPrefixRenderer } from './index.ts';
import { measure, renderSteps } from './render.ts';
import { hostileInputs } from './testing/hostile-inputs.ts';

const TELEGRAM: RenderTarget = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' };
const OTHERS: RenderTarget[] = [
  { dialect: 'discord', maxLength: 2_000, unit: 'codepoint' },
  { dialect: 'whatsapp', maxLength: 4_096, unit: 'codepoint' },
  { dialect: 'plain', maxLength: 4_096, unit: 'byte' },
  { dialect: 'html', maxLength: 16_000, unit: 'utf16' },
];
const WHOLE = Object.entries(hostileInputs(1));
/** All dialects share parser and splitter; what only their printers make slow shows in less text. */
const SHARE = Object.entries(hostileInputs(0.05));
/**
 * Longest step, in ms of processor time. Far more than a step takes, because test machines are slow;
 * far less than the whole takes if it is done at once.
 */
const LONGEST_STEP = 1_000;

/** Renders step by step; tells how many there were and how long one held up everything else. */
function renderWatched(markdown: string, target: RenderTarget) {
  const steps = renderSteps(markdown, target);
  let longest = 0;
  for (let count = 1; ; count += 1) {
    const before = process.threadCpuUsage();
    const step = steps.next();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    if (step.done === true) return { parts: step.value, count, longest };
  }
}

/** What people read, without what the renderer may add or leave out between it. */
const letters = (text: string) => text.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');

function expectAllOf(markdown: string, target: RenderTarget): void {
  const { parts, count, longest } = renderWatched(markdown, target);
  expect(count).toBeGreaterThan(parts.length * 2);
  expect(longest).toBeLessThan(LONGEST_STEP);
  const visible = CAPABILITIES[target.dialect].counts === 'visible';
  const all = parts.flatMap(({ text, plain }) => (visible ? [plain] : [text, plain]));
  expect(all.filter((text) => measure(text, target.unit) > target.maxLength)).toEqual([]);
  const said = parts.map(({ plain }) => plain).join('\n');
  const words = markdown.match(/w\d+w/g);
  if (words !== null) expect(said.match(/w\d+w/g)).toEqual(words);
  else expect(letters(said) === letters(markdown)).toBe(true);
}

describe('hostile input', () => {
  it.each(WHOLE)('[M06] arrives, and each step lets others go on: %s', (_, make) => {
    expectAllOf(make(), TELEGRAM);
  });

  it.each(SHARE)('[M06] is shown while it is being written: %s', async (_, make) => {
    const renderer = createPrefixRenderer(TELEGRAM);
    renderer.push(make());
    await renderer.show();
    renderer.push('\n\nthe end\n\n');
    expect((await renderer.show()).at(-1)?.plain).toContain('the end');
  });
});

describe.each(OTHERS)('hostile input for $dialect', (target) => {
  it.each(SHARE)('[M06] arrives: a twentieth of %s', (_, make) => {
    expectAllOf(make(), target);
  });
});
