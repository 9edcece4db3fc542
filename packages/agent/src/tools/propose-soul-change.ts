import { z } from 'zod';
import type { SoulService } from '../soul/soul-service.ts';
import { formatLocalMoment, MAX_SOUL } from '../soul/soul-text.ts';
import type { LocalTime } from '../time.ts';
import { createFailedOutcome, defineTool, type Tool, type ToolOutcome } from './tool.ts';

const HINT =
  'SOUL.md says who you are. When the owner wants you to change permanently, or has corrected your manner more than once. Take small steps. A proposal is evaluated and the owner can veto it; nothing changes before that: say so, and do not claim that you have changed.';

const Replacement = z.strictObject({
  old: z.string().min(1).describe('A passage that occurs exactly once.'),
  new: z.string().describe('Empty deletes it.'),
});

const Input = z
  .strictObject({
    reason: z.string().min(3).max(400).describe('One sentence for the owner.'),
    text: z
      .string()
      .max(MAX_SOUL * 2)
      .optional()
      .describe('The whole new SOUL.md, without front matter.'),
    replacements: z.array(Replacement).min(1).max(20).optional().describe('Or only the changes.'),
  })
  .refine(({ text, replacements }) => (text === undefined) !== (replacements === undefined), {
    error: 'either `text` or `replacements`',
  });

/**
 * Proposes a change to SOUL.md (W06); the agent cannot change it in any other way. SOUL.md is
 * prompt text for everyone, so a person approves the whole text before it is evaluated (W09).
 */
export function createProposeSoulTool({
  service,
  localTime,
}: {
  readonly service: Pick<SoulService, 'current' | 'propose'>;
  readonly localTime: LocalTime;
}): Tool {
  return defineTool({
    name: 'propose_soul_change',
    summary: 'Proposes a change to SOUL.md.',
    hint: HINT,
    tier: 'filesystem',
    group: 'soul',
    effect: 'write',
    actsOnce: true,
    audience: 'owner',
    approval: 'ask',
    async proposes({ reason, text, replacements = [] }) {
      const content =
        text ?? applyReplacements((await service.current())?.text ?? '', replacements);
      if (typeof content !== 'string') return null;
      return { shown: { reason, 'SOUL.md': content }, content, always: true };
    },
    input: Input,
    async run(
      { reason, text: whole, replacements = [] },
      { callId, messages, approved },
    ): Promise<ToolOutcome> {
      const asked = messages?.at(-1);
      if (asked === undefined || asked.trigger !== undefined) {
        return createFailedOutcome('Not proposed: only in a conversation with the owner.');
      }
      const inUse = (await service.current())?.text ?? '';
      const text = approved ?? whole ?? applyReplacements(inUse, replacements);
      if (typeof text !== 'string') return createFailedOutcome(text.refusal);
      const askedBy = `call:${callId}`;
      const author = { author: 'agent', by: 'the agent' } as const;
      const answer = await service.propose({ ...author, askedBy, text, reason });
      if (answer.kind === 'refused') return createFailedOutcome(`Not proposed. ${answer.reason}`);
      const { number, state, score, findings, appliesAt } = answer.version;
      const found = findings.map(({ text }) => `- ${text}`).join('\n');
      switch (state) {
        case 'refused':
          return createFailedOutcome(
            `Proposal ${number} did not pass the evaluation (${score} of 100):\n${found}\nSOUL.md stays as it is.`,
          );
        case 'passed':
          return {
            text: `Proposal ${number} passed the evaluation (${score} of 100). The owner is told of it and ${
              appliesAt === null
                ? `it waits for \`/soul apply ${number}\``
                : `it takes effect on ${formatLocalMoment(appliesAt, localTime)} unless they veto it with \`/soul veto ${number}\``
            }. Until then you are as you were.`,
          };
        default:
          return {
            text: `Proposal ${number} is kept (${state}). The owner will be told the outcome.`,
          };
      }
    },
  });
}

function applyReplacements(
  before: string,
  replacements: readonly z.infer<typeof Replacement>[],
): string | { readonly refusal: string } {
  let text = before;
  for (const { old, new: instead } of replacements) {
    const at = text.indexOf(old);
    if (at === -1)
      return { refusal: `Not proposed: SOUL.md has no passage ${JSON.stringify(old)}.` };
    if (text.indexOf(old, at + 1) !== -1) {
      return {
        refusal: `Not proposed: the passage ${JSON.stringify(old)} is in SOUL.md more than once.`,
      };
    }
    text = `${text.slice(0, at)}${instead}${text.slice(at + old.length)}`;
  }
  return text;
}
