"""Turns what the command says of itself into the scdoc source of a manual page, so that a page cannot say anything
else. Usage: from_help.py TUPLESCAN SUBCOMMAND > PAGE.scd, or from_help.py TUPLESCAN TEMPLATE.scd > PAGE.scd, which
fills in what stands between @ and @, or from_help.py COMMAND, of one that has no subcommands but what its usage says.

A help text is `usage: ...`, then blocks with empty lines between them. A line of a block that begins with two to six
blanks and a hyphen is an option, or several of which more follow a comma at its end: two blanks and more stand before
what is said of it, which goes on in the lines that are further to the right. `example...:` is a line before commands,
which stay as they are."""
import re
import subprocess
import sys
from pathlib import Path

OPTION = re.compile(r' {2,6}(-\S.*?)(?: {2,}(\S.*))?')
FURTHER = re.compile(r' {8,}(\S.*)')


def escape(text):
    return re.sub(r'([\\*_`<>#~\[\]!])', r'\\\1', text)


def highlight(words):
    """Options are bold, and what stands for a value is in italics."""
    def mark(word):
        is_value = re.fullmatch(r'[A-Z][A-Z0-9]*', word)
        return f'_{word}_' if is_value else f'*{word}*' if word.startswith('-') else escape(word)
    return ''.join(mark(part) for part in re.split(r'([\w-]+)', words))


def blocks(text):
    return [block.splitlines() for block in text.strip('\n').split('\n\n')]


class Page:
    def __init__(self):
        self.sections = {}

    def add(self, section, text):
        self.sections.setdefault(section, []).append(text)

    def options(self, lines):
        """A list of [head, description]; lines before the first option are a paragraph."""
        found, before = [], []
        for line in lines:
            option, further = OPTION.fullmatch(line), FURTHER.fullmatch(line)
            if option and found and found[-1][0].endswith(','):
                found[-1][0] += ' ' + option[1]
            elif option:
                found.append([option[1], [option[2]] if option[2] else []])
            elif further and found:
                found[-1][1].append(further[1])
            elif found:
                raise SystemExit(f'a line that is no option and belongs to none: {line}')
            else:
                before.append(line)
        if before:
            self.add('OPTIONS', escape(' '.join(before)))
        for head, description in found:
            self.add('OPTIONS', f'{highlight(head)}\n\t{escape(" ".join(description))}')

    def block(self, lines):
        title = lines[0]
        if re.match(r'examples?\b', title):
            what = title.partition(':')[2].strip()
            if what:
                self.add('EXAMPLES', escape(what[0].upper() + what[1:]) + ':')
            self.add('EXAMPLES', '```\n' + '\n'.join(line.strip() for line in lines[1:]) + '\n```')
        elif any(OPTION.fullmatch(line) for line in lines):
            self.options(lines)
        else:
            self.add('DESCRIPTION', escape(' '.join(lines)))


def summaries(command):
    """{subcommand: what it does}, as the command lists them."""
    return dict(re.findall(r'^ +tuplescan (\w+) +\.\.\. +(.*)$', run(command, 'help'), re.MULTILINE))


def page(command, name, summary, help_text, synopsis):
    """The scdoc source of the page of `name`, a command or a subcommand."""
    page = Page()
    page.add('NAME', f'{name} - {escape(summary)}')
    page.add('SYNOPSIS', synopsis)
    for lines in blocks(help_text)[1:]:
        page.block(lines)
    page.add('EXIT STATUS', '0 when all went well; the others are in *tuplescan*(1).')
    page.add('SEE ALSO', '*tuplescan*(1)')
    order = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'EXAMPLES', 'SEE ALSO']
    body = '\n\n'.join(f'# {name}\n\n' + '\n\n'.join(page.sections[name]) for name in order if name in page.sections)
    return f'{name}(1) "tuplescan {version(command)}" "tuplescan"\n\n{body}\n'


def subcommand_page(command, subcommand):
    text = run(command, 'help', subcommand)
    synopsis = f'*tuplescan {subcommand}*' + highlight(blocks(text)[0][0].partition(f'tuplescan {subcommand}')[2])
    return page(command, f'tuplescan-{subcommand}', summaries(command)[subcommand], text, synopsis)


def command_page(command):
    """Its help ends with a line about exit codes, which every page has."""
    text = run(command, '--help').partition('\nexit codes:')[0]
    synopsis = highlight(blocks(text)[0][0].partition('usage: ')[2])
    return page(command, Path(command).name, 'running sums of a file by the ranks of MPI', text, synopsis)


def overview(command, template):
    """The scdoc source of the command's page: the template with what `tuplescan help` says filled in."""
    listed = summaries(command)
    *_, files, exit_codes = [' '.join(line.strip() for line in block) for block in blocks(run(command, 'help'))]
    codes = re.split(r', (?=\d+ )', exit_codes.partition(': ')[2])
    said = {'version': version(command),
            'subcommands': '\n\n'.join(f'*tuplescan-{name}*(1)\n\t{escape(text)}' for name, text in listed.items()),
            'files': escape(files),
            'exit_codes': '\n\n'.join('*{}*\n\t{}'.format(*escape(code).split(' ', 1)) for code in codes),
            'pages': ', '.join(f'*tuplescan-{name}*(1)' for name in listed)}
    return re.sub(r'@(\w+)@', lambda name: said[name[1]], template)


def version(command):
    return run(command, '--version').split()[1]


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def main():
    command, what = (sys.argv[1:] + [''])[:2]
    if not what:
        sys.stdout.write(command_page(command))
    elif what.endswith('.scd'):
        with open(what, encoding='utf-8') as template:
            sys.stdout.write(overview(command, template.read()))
    else:
        sys.stdout.write(subcommand_page(command, what))


if __name__ == '__main__':
    main()
