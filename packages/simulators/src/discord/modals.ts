import { checkLength, getChildren, KIND, listComponents } from './components.ts';
import { createInvalidFormRefusal } from './request.ts';
import { isObject, type Json } from './wire.ts';

/** The maximum values that Discord's servers accept. */
const LIMIT = {
  title: 45,
  customId: 100,
  components: 5,
  label: 45,
  about: 100,
  text: 4_000,
} as const;

/**
 * Validates a form, which consists of text blocks and of text inputs that are each in a label or in
 * their own row.
 * @throws Refusal with code 50035 (invalid form body) naming the field
 */
export function checkModal(modal: Json): void {
  checkLength(modal.title, LIMIT.title, 'title');
  checkLength(modal.custom_id, LIMIT.customId, 'custom_id');
  const components = getChildren(modal);
  if (components.length === 0 || components.length > LIMIT.components)
    throw createInvalidFormRefusal(
      'components',
      'BASE_TYPE_BAD_LENGTH',
      'Must be between 1 and 5 in length.',
    );
  const ids = new Set<unknown>();
  for (const [at, component] of components.entries()) {
    const path = `components.${at}`;
    if (component.type === KIND.text) {
      checkLength(component.content, LIMIT.text, `${path}.content`);
      continue;
    }
    const input = getTextInput(component, path);
    checkInput(input, path);
    if (ids.has(input.custom_id))
      throw createInvalidFormRefusal(
        `${path}.custom_id`,
        'COMPONENT_CUSTOM_ID_DUPLICATED',
        'Component custom id cannot be duplicated',
      );
    ids.add(input.custom_id);
  }
}

function getTextInput(component: Json, path: string): Json {
  const { type, component: labelled, label, description } = component;
  if (type === KIND.label) {
    checkLength(label, LIMIT.label, `${path}.label`);
    if (description != null) checkLength(description, LIMIT.about, `${path}.description`);
    if (isObject(labelled) && labelled.type === KIND.textInput) return labelled;
  }
  const [first, ...others] = getChildren(component);
  if (type === KIND.row && first?.type === KIND.textInput && others.length === 0) {
    checkLength(first.label, LIMIT.label, `${path}.label`);
    return first;
  }
  throw createInvalidFormRefusal(
    `${path}.type`,
    'UNION_TYPE_CHOICES',
    'Expected a text input in a label.',
  );
}

function checkInput({ custom_id, style, min_length, max_length, value }: Json, path: string): void {
  checkLength(custom_id, LIMIT.customId, `${path}.custom_id`);
  if (style !== 1 && style !== 2)
    throw createInvalidFormRefusal(
      `${path}.style`,
      'BASE_TYPE_CHOICES',
      'Value must be one of (1, 2).',
    );
  const [least, most] = [Number(min_length ?? 0), Number(max_length ?? LIMIT.text)];
  if (!(least >= 0 && least <= most && most >= 1 && most <= LIMIT.text))
    throw createInvalidFormRefusal(
      `${path}.max_length`,
      'NUMBER_TYPE_RANGE',
      'min must not exceed max.',
    );
  if (value != null) checkLength(value, most, `${path}.value`);
}

/** @throws Error for values that the real client would refuse to send */
export function fillInForm(modal: Json, values: Readonly<Record<string, string>>): Json {
  const inputs = listInputs(modal);
  for (const name of Object.keys(values))
    if (!inputs.some(({ custom_id }) => custom_id === name)) throw new Error(`No input ${name}`);
  for (const { custom_id, required, min_length, max_length } of inputs) {
    const text = values[String(custom_id)] ?? '';
    if (text === '' && required !== false) throw new Error(`${custom_id} is empty`);
    if (text.length > Number(max_length ?? LIMIT.text)) throw new Error(`${custom_id} is too long`);
    if (text !== '' && text.length < Number(min_length ?? 0))
      throw new Error(`${custom_id} is too short`);
  }
  const sent = ({ type, custom_id }: Json, id: number): Json => ({
    type,
    id,
    custom_id,
    value: values[String(custom_id)] ?? '',
  });
  const components = getChildren(modal).map((component, at) => {
    const { type, component: labelled } = component;
    const id = 2 * at + 1;
    if (isObject(labelled)) return { type, id, component: sent(labelled, id + 1) };
    const [input] = getChildren(component);
    return input === undefined ? { type, id } : { type, id, components: [sent(input, id + 1)] };
  });
  return { custom_id: modal.custom_id, components };
}

function listInputs(modal: Json): readonly Json[] {
  return getChildren(modal).flatMap((component) =>
    [...listComponents([component]), component.component].filter(
      (one): one is Json => isObject(one) && one.type === KIND.textInput,
    ),
  );
}
