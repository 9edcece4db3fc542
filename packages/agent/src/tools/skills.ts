import { BoundedMap, canBeCommand, type PromptPart } from '@parley/core';
import type { ContextSource, PromptContext, PromptFeatures, SourceTurn } from '@parley/prompt';
import { parseSkillCommand, SkillSnapshot, type Skills, truncateText } from '@parley/workspace';
import { z } from 'zod';
import { createFailedOutcome, defineTool, type Tool } from './tool.ts';

/** The number of sessions whose snapshot is cached; all snapshots are stored in the database. */
const SESSIONS = 500;
/** The maximum number of skills in one turn; a burst of messages can contain several commands. */
const MAX_CALLED_SKILLS = 3;
/** The maximum length of the text of an invoked skill, in characters. */
const MAX_CHARACTERS = 30_000;

export type SkillTurn = Pick<
  SourceTurn,
  'conversationId' | 'session' | 'reader' | 'messages' | 'fix'
>;

export interface SkillsSource extends ContextSource {
  gather(
    turn: SkillTurn,
  ): Promise<Pick<PromptContext, 'skills'> & Pick<PromptFeatures, 'calledSkills'>>;
}

/**
 * Provides the skills in a turn: the list fixed at the start of the session (S07), and the current
 * text of skills that people invoked by command (S08). The disk is read only when a session starts
 * or a command is typed.
 */
export function createSkillsSource(
  skills: Pick<Skills, 'reads' | 'snapshot' | 'called'>,
): SkillsSource {
  const sessions = new BoundedMap<string, SkillSnapshot>(SESSIONS);
  const snapshotOf = async (turn: SkillTurn): Promise<SkillSnapshot> => {
    const key = JSON.stringify([turn.conversationId, turn.session, turn.reader.kind]);
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const now = await skills.snapshot(turn.reader);
    if (turn.fix === undefined) return now;
    const kept = await turn.fix('skills', now, SkillSnapshot);
    // The list is usually the same in all sessions, so one copy is shared.
    const fixed = kept.version === now.version ? now : kept;
    sessions.set(key, fixed);
    return fixed;
  };
  return {
    id: 'skills',
    reads: skills.reads,
    async gather(turn) {
      const [snapshot, called] = await Promise.all([
        snapshotOf(turn),
        findInvokedSkills(turn, skills),
      ]);
      return { skills: snapshot, ...(called.length > 0 && { calledSkills: called }) };
    },
  };
}

/**
 * Finds the skills that messages invoke. A command that does not name a skill is ordinary text and
 * does not cause a notice.
 */
async function findInvokedSkills(
  { messages, reader }: SkillTurn,
  skills: Pick<Skills, 'called'>,
): Promise<readonly PromptPart[]> {
  const typed = messages
    .filter(canBeCommand)
    .flatMap(({ text }) => parseSkillCommand(text)?.command ?? []);
  const parts: PromptPart[] = [];
  for (const command of new Set(typed)) {
    if (parts.length === MAX_CALLED_SKILLS) break;
    const skill = await skills.called(command, reader);
    if (skill.kind === 'absent') continue;
    const { source, audience } = skill;
    parts.push({ source, audience, text: truncateText(skill.text, MAX_CHARACTERS, source).text });
  }
  return parts;
}

/** Reads a skill by its name, in any skill folder (S06). */
export function createLoadSkillTool(skills: Pick<Skills, 'read'>): Tool {
  return defineTool({
    name: 'load_skill',
    summary: 'Reads the instructions of one of the available skills.',
    hint: 'Give `file` only if the skill’s text refers to one.',
    tier: 'knowledge-base',
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    input: z.object({
      name: z.string().min(1),
      file: z.string().min(1).optional().describe('Another file in its folder.'),
    }),
    async run({ name, file }, { reader }) {
      const skill = await skills.read(name, reader, file);
      return skill.kind === 'skill' ? { text: skill.text } : createFailedOutcome(skill.detail);
    },
  });
}
