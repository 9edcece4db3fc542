import { describe, expect, it } from 'vitest';
import { findApprovalCode } from './questions.ts';

describe('questions in the chat', () => {
  it('[G05] [U03] finds the call whose code the buttons of a question contain', () => {
    const buttons = [
      { label: 'Approve', data: '/approve K7Q2' },
      { label: 'Deny', data: '/deny K7Q2' },
    ];
    expect(findApprovalCode(buttons)).toBe('K7Q2');
  });

  it.each([
    [[]],
    [[{ label: 'Red', data: '/answer K7Q2 1' }]],
    [[{ label: 'Run the plan', data: '/run K7Q2' }]],
  ])('[G05] does not find a call for the buttons %j', (buttons) => {
    expect(findApprovalCode(buttons)).toBeNull();
  });
});
