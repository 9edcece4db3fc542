import { parseYesOrNo } from '@parley/core';
import type { PersonAnswer, PersonQuestion } from '../../tools/tool.ts';
import type { FieldValue, FormField } from './field.ts';
import {
  createConsentQuestion,
  createReviewQuestion,
  createUrlQuestion,
  type ElicitationSource,
  formatFieldQuestion,
} from './questions.ts';
import { findProposedValue, parseFieldAnswer } from './read-answer.ts';
import type { Elicitation } from './read-request.ts';

export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, FieldValue>>;
}

/** The answer for the server, and a note for the model if the server received no answer. */
export interface ElicitationResult {
  readonly answer: ElicitationAnswer;
  readonly note: string | null;
}

/** `part` distinguishes several questions from the same call. */
export type AskPerson = (question: PersonQuestion) => Promise<PersonAnswer>;

/** How many times one question is asked until the answer is valid. */
const MAX_ATTEMPTS = 3;

/**
 * Asks the person for the fields that a server requests. The turn is suspended until the person
 * answers.
 */
export async function answerElicitation(
  asked: Exclude<Elicitation, { kind: 'unfit' }>,
  asker: ElicitationSource,
  part: string,
  ask: AskPerson,
): Promise<ElicitationResult> {
  try {
    if (asked.kind === 'url') {
      await awaitConsent(createUrlQuestion(asker, asked.url), part, ask);
      return { answer: { action: 'accept' }, note: null };
    }
    if (asked.fields.length === 0) await awaitConsent(createConsentQuestion(asker), part, ask);
    const content = await collectFormValues(asked.fields, asker, part, ask);
    if (asked.fields.length > 1)
      await awaitConsent(createReviewQuestion(asker, asked.fields, content), `${part}.review`, ask);
    return { answer: { action: 'accept', content }, note: null };
  } catch (error) {
    if (error instanceof UnansweredQuestionError) return error.answered;
    throw error;
  }
}

/** Thrown if the person does not answer, so that the remaining questions are not asked. */
class UnansweredQuestionError extends Error {
  readonly answered: ElicitationResult;
  constructor(action: 'decline' | 'cancel', note: string) {
    super(note);
    this.answered = { answer: { action }, note };
  }
}

async function collectFormValues(
  fields: readonly FormField[],
  asker: ElicitationSource,
  part: string,
  ask: AskPerson,
): Promise<Readonly<Record<string, FieldValue>>> {
  const filled: [string, FieldValue][] = [];
  for (const [nth, field] of fields.entries()) {
    const place = { asker, nth, count: fields.length };
    const value = await askField(field, place, `${part}.${nth}`, ask);
    if (value !== undefined) filled.push([field.name, value]);
  }
  return Object.fromEntries(filled);
}

async function askField(
  field: FormField,
  place: { readonly asker: ElicitationSource; readonly nth: number; readonly count: number },
  part: string,
  ask: AskPerson,
): Promise<FieldValue | undefined> {
  let problem: string | null = null;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const question = formatFieldQuestion(field, { ...place, problem });
    const said = getChosenAnswer(await ask({ ...question, part: `${part}.${attempt}` }));
    if (said === null) {
      const proposed = findProposedValue(field);
      if (proposed === undefined && field.isRequired) throw createDeclinedError();
      return proposed;
    }
    const read = parseFieldAnswer(field, said);
    if (read.kind === 'value') return read.value;
    problem = read.problem;
  }
  throw createNotUnderstoodError();
}

/** Returns after the person has agreed. */
async function awaitConsent(
  question: Omit<PersonQuestion, 'part'>,
  part: string,
  ask: AskPerson,
): Promise<void> {
  const [yes] = question.choices;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const said = getChosenAnswer(await ask({ ...question, part: `${part}.${attempt}` }));
    const meaning = said === null ? 'no' : parseYesOrNo(said);
    if (meaning === 'no') throw createDeclinedError();
    if (said === yes || meaning === 'yes') return;
  }
  throw createNotUnderstoodError();
}

/** The person's answer; null if they skipped the question. */
function getChosenAnswer(asked: PersonAnswer): string | null {
  switch (asked.kind) {
    case 'skipped':
      return null;
    case 'late':
      throw new UnansweredQuestionError(
        'cancel',
        `the person did not answer within ${asked.waited}`,
      );
    case 'no-person':
      throw new UnansweredQuestionError('decline', NO_PERSON);
    case 'chose':
      return asked.answer;
    case 'wrote': {
      const text = asked.answer.trim();
      if (/^(?:decline|i decline|ablehnen)[.!]?$/i.test(text)) throw createDeclinedError();
      if (/^(?:cancel|abbrechen|stop)[.!]?$/i.test(text))
        throw new UnansweredQuestionError('cancel', 'the person cancelled it');
      return asked.sentFiles === true ? '' : text;
    }
  }
}

export const NO_PERSON = 'no person waits for this turn, so nobody was asked';

function createDeclinedError(): UnansweredQuestionError {
  return new UnansweredQuestionError('decline', 'the person declined');
}

function createNotUnderstoodError(): UnansweredQuestionError {
  const note = `the person gave ${MAX_ATTEMPTS} answers, and none of them fits what it asks for`;
  return new UnansweredQuestionError('cancel', note);
}
