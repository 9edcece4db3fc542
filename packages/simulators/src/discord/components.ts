import { createInvalidFormRefusal, type Refusal } from './request.ts';
import { isObject, type Json } from './wire.ts';

/** Flag of messages that consist only of components; it cannot be removed. */
export const COMPONENTS_V2 = 1 << 15;

/** Discord's component type numbers. */
export const KIND = {
  row: 1,
  button: 2,
  select: 3,
  textInput: 4,
  section: 9,
  text: 10,
  thumbnail: 11,
  gallery: 12,
  file: 13,
  separator: 14,
  container: 17,
  label: 18,
} as const;

/** Select menus of every kind: strings, users, roles, mentionables, channels. */
const SELECTS: readonly number[] = [3, 5, 6, 7, 8];

/** The components allowed at the top level of a components message, and inside a container. */
const IN_CONTAINER: readonly number[] = [1, 9, 10, 12, 13, 14];
const AT_TOP: readonly number[] = [...IN_CONTAINER, KIND.container];

/** The maximum values that Discord's servers accept. */
const LIMIT = {
  rows: 5,
  inRow: 5,
  customId: 100,
  buttonLabel: 80,
  options: 25,
  optionText: 100,
  placeholder: 150,
  all: 40,
  text: 4_000,
  sectionTexts: 3,
} as const;

interface ComponentCheckState {
  readonly customIds: Set<string>;
  components: number;
  characters: number;
}

/** @throws Refusal with code 50035 naming the invalid component */
export function checkComponents(components: readonly Json[], isV2: boolean): void {
  const seen: ComponentCheckState = { customIds: new Set(), components: 0, characters: 0 };
  if (!isV2 && components.length > LIMIT.rows) throw createTooManyRefusal('components', LIMIT.rows);
  const allowed = isV2 ? AT_TOP : [KIND.row];
  checkComponentList(components, 'components', allowed, seen);
  if (seen.components > LIMIT.all) throw createTooManyRefusal('components', LIMIT.all);
  if (seen.characters > LIMIT.text) {
    const words = `The total length of all text displays must be ${LIMIT.text} or fewer.`;
    throw createInvalidFormRefusal('components', 'COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED', words);
  }
}

function checkComponentList(
  components: readonly Json[],
  path: string,
  allowed: readonly number[],
  seen: ComponentCheckState,
): void {
  for (const [at, component] of components.entries())
    checkComponent(component, `${path}.${at}`, allowed, seen);
}

function checkComponent(
  component: Json,
  path: string,
  allowed: readonly number[],
  seen: ComponentCheckState,
): void {
  const { type } = component;
  if (typeof type !== 'number' || !allowed.includes(type)) {
    const words = `Value of field "type" must be one of (${allowed.join(', ')}).`;
    throw createInvalidFormRefusal(`${path}.type`, 'UNION_TYPE_CHOICES', words);
  }
  seen.components += 1;
  CHECKS[type]?.(component, path, seen);
}

const CHECKS: Readonly<
  Record<number, (component: Json, path: string, seen: ComponentCheckState) => void>
> = {
  [KIND.row]: checkRow,
  [KIND.container]: (container, path, seen) =>
    checkComponentList(getChildren(container), `${path}.components`, IN_CONTAINER, seen),
  [KIND.section]: checkSection,
  [KIND.text]: checkText,
  [KIND.button]: checkButton,
  [KIND.select]: checkSelect,
};

function checkRow(row: Json, path: string, seen: ComponentCheckState): void {
  const inner = getChildren(row);
  const here = `${path}.components`;
  if (inner.length === 0)
    throw createInvalidFormRefusal(here, 'BASE_TYPE_BAD_LENGTH', 'Must be 1 to 5.');
  const hasSelect = inner.some(({ type }) => SELECTS.includes(Number(type)));
  const most = hasSelect ? 1 : LIMIT.inRow;
  if (inner.length > most) throw createTooManyRefusal(here, most);
  checkComponentList(inner, here, [KIND.button, ...SELECTS], seen);
}

function checkSection(section: Json, path: string, seen: ComponentCheckState): void {
  const inner = getChildren(section);
  if (inner.length === 0 || inner.length > LIMIT.sectionTexts)
    throw createTooManyRefusal(`${path}.components`, LIMIT.sectionTexts);
  checkComponentList(inner, `${path}.components`, [KIND.text], seen);
  const accessory = isObject(section.accessory) ? section.accessory : {};
  checkComponent(accessory, `${path}.accessory`, [KIND.button, KIND.thumbnail], seen);
}

function checkText({ content }: Json, path: string, seen: ComponentCheckState): void {
  if (typeof content !== 'string' || content.trim() === '')
    throw createRequiredRefusal(`${path}.content`);
  seen.characters += content.length;
}

/** Link buttons have no custom id. */
const LINK = 5;

function checkButton(
  { style, label, custom_id, url }: Json,
  path: string,
  seen: ComponentCheckState,
): void {
  if (typeof style !== 'number' || style < 1 || style > LINK)
    throw createInvalidFormRefusal(
      `${path}.style`,
      'BASE_TYPE_CHOICES',
      'Value must be one of (1, 2, 3, 4, 5).',
    );
  if (typeof label !== 'string' || label === '') throw createRequiredRefusal(`${path}.label`);
  checkLength(label, LIMIT.buttonLabel, `${path}.label`);
  if (style === LINK && typeof url !== 'string') throw createRequiredRefusal(`${path}.url`);
  if (style !== LINK) recordCustomId(custom_id, path, seen);
}

function checkSelect(select: Json, path: string, seen: ComponentCheckState): void {
  recordCustomId(select.custom_id, path, seen);
  if (select.placeholder !== undefined)
    checkLength(select.placeholder, LIMIT.placeholder, `${path}.placeholder`);
  const options = getOptions(select);
  const here = `${path}.options`;
  if (options.length === 0 || options.length > LIMIT.options)
    throw createTooManyRefusal(here, LIMIT.options);
  const values = new Set<unknown>();
  for (const [at, { label, value, description }] of options.entries()) {
    checkLength(label, LIMIT.optionText, `${here}.${at}.label`);
    checkLength(value, LIMIT.optionText, `${here}.${at}.value`);
    if (description != null)
      checkLength(description, LIMIT.optionText, `${here}.${at}.description`);
    if (values.has(value))
      throw createInvalidFormRefusal(
        `${here}.${at}.value`,
        'SELECT_COMPONENT_OPTION_VALUE_DUPLICATED',
        'The specified option value is already used',
      );
    values.add(value);
  }
  const { min, max } = getSelectionLimits(select);
  if (!(min >= 0 && max >= 1 && min <= max && max <= options.length))
    throw createInvalidFormRefusal(
      `${path}.max_values`,
      'BASE_TYPE_BAD_RANGE',
      'min must not exceed max.',
    );
}

export function getOptions({ options }: Json): readonly Json[] {
  return Array.isArray(options) ? options.filter(isObject) : [];
}

export function getSelectionLimits({ min_values, max_values }: Json): {
  readonly min: number;
  readonly max: number;
} {
  return { min: Number(min_values ?? 1), max: Number(max_values ?? 1) };
}

function recordCustomId(id: unknown, path: string, { customIds }: ComponentCheckState): void {
  const here = `${path}.custom_id`;
  checkLength(id, LIMIT.customId, here);
  const text = String(id);
  if (customIds.has(text))
    throw createInvalidFormRefusal(
      here,
      'COMPONENT_CUSTOM_ID_DUPLICATED',
      'Component custom id cannot be duplicated',
    );
  customIds.add(text);
}

/** @throws Refusal with code 50035 unless `text` is a string of 1 to `max` characters */
export function checkLength(text: unknown, max: number, path: string): void {
  if (typeof text !== 'string' || text === '') throw createRequiredRefusal(path);
  if (text.length > max)
    throw createInvalidFormRefusal(
      path,
      'BASE_TYPE_BAD_LENGTH',
      `Must be between 1 and ${max} in length.`,
    );
}

function createRequiredRefusal(path: string): Refusal {
  return createInvalidFormRefusal(path, 'BASE_TYPE_REQUIRED', 'This field is required');
}

function createTooManyRefusal(path: string, max: number): Refusal {
  return createInvalidFormRefusal(
    path,
    'BASE_TYPE_MAX_LENGTH',
    `Must be ${max} or fewer in length.`,
  );
}

export function getChildren({ components }: Json): readonly Json[] {
  return Array.isArray(components) ? components.filter(isObject) : [];
}

/** All components of a message in order, including nested ones. */
export function listComponents(components: readonly Json[]): Json[] {
  return components.flatMap((component) => {
    const accessory = isObject(component.accessory) ? [component.accessory] : [];
    return [component, ...listComponents([...getChildren(component), ...accessory])];
  });
}

/** The visible text of a message: its content, or its text displays. */
export function getVisibleText({
  content,
  components,
}: {
  readonly content: string;
  readonly components: readonly Json[];
}): string {
  const displays = listComponents(components).flatMap(({ type, content: text }) =>
    type === KIND.text && typeof text === 'string' ? [text] : [],
  );
  return [content, ...displays].filter((text) => text !== '').join('\n');
}

/** The buttons of a message, in order. */
export function listButtons(components: readonly Json[]): Json[] {
  return listComponents(components).filter(({ type }) => type === KIND.button);
}
