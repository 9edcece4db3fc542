import type { ConversationMode, NewPart } from '@parley/store';

/** Below a plan stands the yes to it; where there are no buttons, the words of the mode say how. */
export function withPlanButton(
  parts: readonly NewPart[],
  mode: ConversationMode | undefined,
): readonly NewPart[] {
  if (mode !== 'plan') return parts;
  const buttons = [{ label: 'Run the plan', data: '/mode agent' }];
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part));
}
