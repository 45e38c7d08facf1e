/** A plugin of TypeDoc for two names: that of a module, as users import it, and that of the error in `@throws {Name}`. */
import { type Application, Converter } from 'typedoc';

export function load({ converter }: Pick<Application, 'converter'>): void {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const entry of project.children ?? [])
      entry.name = entry.name.replace(/^(\w+)\/src/, '@payment-service/$1').replace('/store/libraries', '');
    for (const { comment } of Object.values(project.reflections))
      for (const { tag, typeAnnotation, content } of comment?.blockTags ?? [])
        if (tag === '@throws' && typeAnnotation !== undefined)
          content.unshift({ kind: 'text', text: `\`${typeAnnotation.slice(1, -1)}\`: ` });
  });
}
