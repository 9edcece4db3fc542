import type { Skills } from '@parley/workspace';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';

/** Reads a skill by its name, wherever its folder is (S06). */
export function loadSkillTool(skills: Pick<Skills, 'read'>): Tool {
  return defineTool({
    name: 'load_skill',
    summary: 'Reads the instructions of one of the available skills.',
    hint: 'Only for a skill that clearly applies, one at a time. Name a `file` only where its text sends you to one.',
    tier: 'knowledge-base',
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    input: z.object({
      name: z.string().min(1).describe('As in <available_skills>.'),
      file: z.string().min(1).optional().describe('Another file of the skill’s folder.'),
    }),
    async run({ name, file }, { reader }) {
      const skill = await skills.read(name, reader, file);
      return skill.kind === 'skill' ? { text: skill.text } : { text: skill.detail, failed: true };
    },
  });
}
